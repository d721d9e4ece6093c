/** Types that a browser shows as a picture and never runs. Bytes are of one of them only when they say so themselves. */
export const previewTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/**
 * Types that are told as they are when a file is saved from its address: platforms that fetch it there go by the type, and
 * no browser runs them. Of all others the bytes are just bytes.
 */
export const savedTypes: ReadonlySet<string> = new Set([
  ...previewTypes,
  "application/pdf",
  "audio/amr",
  "audio/mp4",
  "audio/mpeg",
  "audio/ogg",
  "video/3gpp",
  "video/mp4",
  "text/vcard",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
]);

/** The most that a message can bring with it. */
export const filesPerMessage = 20;

export const defaultFileBytesMax = 25 * 1_048_576;

const nameMax = 180;

/**
 * A name as it can be shown and saved: without a path, without what cannot be seen, and without what turns the direction
 * of writing round, so that `invoice<U+202E>fdp.exe` does not look like a PDF.
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

/** For people: `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${Math.round(bytes / 1_024)} KB`;
  return `${(bytes / 1_048_576).toFixed(1).replace(/\.0$/u, "")} MB`;
}

/** A media type without parameters, or that of any bytes. */
export function plainMediaType(given: string): string {
  const type = given.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,100}$/.test(type) ? type : "application/octet-stream";
}
