/**
 * Reads server-sent events of a response until it ends. After `silence` milliseconds without a byte, comments included,
 * `cut` ends it.
 */
export async function events(
  response: Response,
  silence: number,
  cut: AbortController,
  take: (event: string, data: string) => void,
): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let timer = setTimeout(() => cut.abort(), silence);
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => cut.abort(), silence);
      const blocks = (rest + value.replaceAll("\r\n", "\n")).split("\n\n");
      rest = blocks.pop() ?? "";
      blocks.forEach((block) => dispatch(block, take));
    }
  } finally {
    clearTimeout(timer);
  }
}

function dispatch(block: string, take: (event: string, data: string) => void): void {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [name, said] = [line.split(":", 1)[0], line.slice(line.indexOf(":") + 1).replace(/^ /, "")];
    if (name === "event") event = said;
    if (name === "data") data.push(said);
  }
  if (data.length > 0) take(event, data.join("\n"));
}
