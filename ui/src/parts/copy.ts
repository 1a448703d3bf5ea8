import { attempt } from "../app/toasts";

/** Copies a text. Browsers lend the clipboard to pages over HTTPS or of this machine only; elsewhere a selection is copied. */
export function copy(text: string, done = "Copied"): Promise<boolean> {
  return attempt(async () => {
    if (window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    if (!copied) throw new Error("the browser does not let this page copy: select the text and press Ctrl+C");
  }, done);
}
