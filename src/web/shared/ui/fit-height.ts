/** Makes a field as high as its text, up to a limit in pixels. */
export function fitHeight(field: HTMLTextAreaElement | null, max: number): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, max)}px`;
}
