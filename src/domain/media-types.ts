/** Types that browsers show as images and never run. A file has one of them only when its bytes prove it. */
export const previewTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/**
 * Media types that a download states as they are: platforms that fetch the file rely on the type, and no browser runs
 * them. All others are sent as `application/octet-stream`.
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
