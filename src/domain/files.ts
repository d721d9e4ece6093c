/** Maximum number of files in a message. */
export const filesPerMessage = 20;

export const defaultFileBytesMax = 25 * 1_048_576;

const nameMax = 180;

/**
 * A file name that is safe to show and save: without a path, invisible characters and marks that reverse the direction
 * of writing, because `invoice<U+202E>fdp.exe` would look like a PDF.
 */
export function cleanFileName(name: string): string {
  const base = name.split(/[/\\]/u).at(-1) ?? "";
  const seen = base
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .replaceAll(/[<>:"|?*]/gu, "_")
    .trim()
    .replace(/^\.+/u, "");
  if (seen === "") return "file";
  const signs = [...seen];
  return signs.length <= nameMax ? seen : `${signs.slice(0, 120).join("")}…${signs.slice(-50).join("")}`;
}

/** A size for display: `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${Math.round(bytes / 1_024)} KB`;
  return `${(bytes / 1_048_576).toFixed(1).replace(/\.0$/u, "")} MB`;
}

/** A media type without parameters; `application/octet-stream` when it is malformed. */
export function plainMediaType(given: string): string {
  const type = given.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,100}$/.test(type) ? type : "application/octet-stream";
}
