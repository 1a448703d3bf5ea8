/** A colour variable as `rgb(...)`: for canvases, which take no classes. */
export function colour(element: HTMLElement, name: string): string {
  const before = element.style.color;
  element.style.color = `var(${name})`;
  const found = getComputedStyle(element).color;
  element.style.color = before;
  return found;
}

export type Rgb = readonly [number, number, number];

export function rgb(text: string): Rgb {
  const [red = 0, green = 0, blue = 0] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue];
}

/** A colour between two. */
export function mix(from: Rgb, to: Rgb, share: number): string {
  const at = (i: 0 | 1 | 2) => Math.round(from[i] + (to[i] - from[i]) * Math.min(1, share));
  return `rgb(${at(0)},${at(1)},${at(2)})`;
}
