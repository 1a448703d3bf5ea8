import { save } from "../parts/save";

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "opacity",
  "font-size",
  "font-family",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
];
const TITLE = 28;

/** A chart as a file: a picture that needs no style sheet. */
function standalone(chart: SVGSVGElement, title: string): { text: string; width: number; height: number } {
  const copy = chart.cloneNode(true) as SVGSVGElement;
  const originals = chart.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i] as Element);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  const [width, height] = [chart.clientWidth, chart.clientHeight + TITLE];
  const page = getComputedStyle(document.body);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const set = (element: Element, values: Record<string, string | number>) =>
    Object.entries(values).forEach(([name, value]) => element.setAttribute(name, String(value)));
  set(svg, { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` });
  const back = document.createElementNS(svg.namespaceURI, "rect");
  set(back, { width, height, fill: page.backgroundColor });
  const head = document.createElementNS(svg.namespaceURI, "text");
  set(head, { x: 12, y: 19, fill: page.color, "font-size": 14, "font-family": page.fontFamily });
  head.textContent = title;
  const body = document.createElementNS(svg.namespaceURI, "g");
  set(body, { transform: `translate(0,${TITLE})` });
  body.append(...copy.childNodes);
  svg.append(back, head, body);
  return { text: new XMLSerializer().serializeToString(svg), width, height };
}

/** Saves a chart as SVG. */
export function saveSvg(chart: SVGSVGElement, title: string): void {
  save(new Blob([standalone(chart, title).text], { type: "image/svg+xml" }), `${title}.svg`);
}

/** Saves a chart as PNG, at twice the pixels of the screen. */
export async function savePng(chart: SVGSVGElement, title: string): Promise<void> {
  const { text, width, height } = standalone(chart, title);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * 2, height * 2];
  const context = canvas.getContext("2d");
  context?.scale(2, 2);
  context?.drawImage(image, 0, 0, width, height);
  const png = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (png === null) throw new Error("the browser cannot draw a picture of this size");
  save(png, `${title}.png`);
}
