import type { QuotedMessage } from "../../frames.ts";
import { el } from "./dom.ts";
import type { Strings } from "./strings.ts";

/** The message that another one answers. */
export const quoted = ({ role, author, text }: QuotedMessage, strings: Strings): HTMLElement =>
  el(
    "blockquote",
    { class: "quoted" },
    el("span", { class: "hidden" }, `${strings.inReply} `),
    el("bdi", {}, role === "user" ? strings.you : (author ?? (role === "agent" ? strings.agent : ""))),
    el("p", { dir: "auto" }, text),
  );
