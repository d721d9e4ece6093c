import { Type } from "typebox";
import { text } from "./values.ts";

/** An unknown placeholder would reach the customer, so it is refused. */
export const replyText = (description: string) =>
  Type.String({
    ...text(`${description} In Markdown. {customer} and {agent} are their names; no other braces.`, 4_000),
    pattern: "^(?:[^{}]|\\{(?:customer|agent)\\})*$",
  });

/** Texts that agents insert by name. */
export const savedRepliesSchema = Type.Record(
  // The name that agents type after a slash, in any script.
  Type.String({ pattern: "^[^\\s/A-Z{}]{1,40}$" }),
  replyText("The text of a saved reply."),
  {
    additionalProperties: false,
    maxProperties: 300,
    description: "Replies that agents insert by / and a name of at most 40 characters, without spaces and capitals.",
  },
);
