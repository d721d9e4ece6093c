import { sizeText } from "#domain/files.ts";
import type { FileFrame } from "../../../frames.ts";
import { el, icon } from "../dom.ts";
import type { Strings } from "../strings.ts";

/** The files of a message. Images are shown; all other files can only be downloaded. */
export function fileList(files: readonly FileFrame[], strings: Strings): HTMLElement | undefined {
  if (files.length === 0) return undefined;
  const entry = ({ name, bytes, url, preview }: FileFrame): HTMLElement => {
    const facts = [
      el("span", { class: "file-name", dir: "auto" }, name),
      el("span", { class: "file-size" }, bytes === null ? "" : sizeText(bytes)),
    ];
    if (url === null || !/^https?:\/\//u.test(url)) return el("li", {}, icon("page"), ...facts);
    const image = preview && el("img", { src: url, alt: name, loading: "lazy", referrerpolicy: "no-referrer" });
    if (image !== false) {
      // A page whose policy forbids images of other hosts shows the name only.
      image.addEventListener("error", () => image.remove());
    }
    const link = el(
      "a",
      { href: url, target: "_blank", rel: "noopener noreferrer", download: name },
      image === false ? icon("page") : image,
      ...facts,
      el("span", { class: "hidden" }, ` (${strings.newTab})`),
    );
    return el("li", preview ? { class: "picture" } : {}, link);
  };
  return el("ul", { class: "files" }, ...files.map(entry));
}
