import { Type } from "typebox";
import { text } from "./values.ts";

/** What agents can put into a reply by its name. Braces around a word that stands for nothing would reach the customer. */
export const savedRepliesSchema = Type.Record(
  // What a person types after a slash, in any script.
  Type.String({ pattern: "^[^\\s/A-Z{}]{1,40}$" }),
  Type.String({
    ...text("The text of a saved reply, in Markdown. {customer} and {agent} are their names; no other braces.", 4_000),
    pattern: "^(?:[^{}]|\\{(?:customer|agent)\\})*$",
  }),
  {
    additionalProperties: false,
    maxProperties: 300,
    description:
      "Replies that agents insert by / and their name, which has at most 40 characters and no spaces and capitals.",
  },
);
