import { forwardedText } from "#channels/text/forwarded.ts";
import { fieldsOf } from "../deliveries/deliveries.ts";
import type { SlackFile, SlackMessage } from "../deliveries/payloads.ts";

/** A forwarded message; the forwarder's comment is the text of the outer message. */
export interface Forwarded {
  /** In Slack's markup. */
  readonly text: string;
  readonly author: string | undefined;
  readonly files: readonly SlackFile[];
}

/** More than people forward at once. */
const forwardedMax = 10;

/** Forwarded messages are attachments, as are link previews. */
export function forwardedIn({ attachments }: Pick<SlackMessage, "attachments">): readonly Forwarded[] {
  if (!Array.isArray(attachments)) return [];
  return (attachments as unknown[]).slice(0, forwardedMax).flatMap((attachment): Forwarded[] => {
    const { is_share: isShare, text, fallback, author_name: author, files } = fieldsOf(attachment);
    if (isShare !== true) return [];
    const said = textIn(text) ?? textIn(fallback) ?? "";
    const along = filesIn(files);
    return said === "" && along.length === 0 ? [] : [{ text: said, author: textIn(author), files: along }];
  });
}

/** Adds the forwarded messages to the message's own text and files. */
export function withForwarded(message: SlackMessage): SlackMessage {
  const forwarded = forwardedIn(message);
  if (forwarded.length === 0) return message;
  const texts = forwarded.map(({ text, author }) => forwardedText(text, author));
  return {
    ...message,
    text: [message.text ?? "", ...texts].filter((text) => text !== "").join("\n\n"),
    files: [...(message.files ?? []), ...forwarded.flatMap(({ files }) => files)],
  };
}

const textIn = (given: unknown): string | undefined => (typeof given === "string" && given !== "" ? given : undefined);

function filesIn(given: unknown): readonly SlackFile[] {
  return (Array.isArray(given) ? (given as unknown[]) : []).flatMap((each): SlackFile[] => {
    const file = fieldsOf(each);
    const texts = [
      "id",
      "name",
      "title",
      "mimetype",
      "mode",
      "file_access",
      "external_url",
      "url_private",
      "url_private_download",
    ];
    const known = Object.fromEntries(texts.flatMap((key) => (typeof file[key] === "string" ? [[key, file[key]]] : [])));
    const { size, is_external: isExternal } = file;
    return [{ ...known, ...(typeof size === "number" ? { size } : {}), is_external: isExternal === true }];
  });
}
