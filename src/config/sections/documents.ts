import type { Static } from "typebox";
import { Type } from "typebox";
import { closed, text } from "./values.ts";

const audience = Type.Optional(
  Type.Array(text("A tag.", 64), {
    maxItems: 50,
    description:
      "Audience tags: only customers with one of them get answers from it. Default: those that it has; for a new one: everyone gets them.",
  }),
);

export const websiteSchema = closed(
  {
    url: text("Address of the page at which the crawl begins."),
    title: Type.Optional(
      text("Title in the dashboard. Default: the one that it has; for a new one: its host and path.", 300),
    ),
    max_pages: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: "Most pages. Default: as it has; for a new one: 50." }),
    ),
    sitemap: Type.Optional(
      text("Address of the sitemap. Default: the one that it has; for a new one: as robots.txt says, or /sitemap.xml."),
    ),
    audience,
  },
  "A website that is crawled.",
);

export const articleSchema = closed(
  {
    title: text("Title, which answers show as their source.", 300),
    text: text("The article, in Markdown.", 200_000),
    audience,
  },
  "An article.",
);

export type FileWebsite = Static<typeof websiteSchema>;
export type FileArticle = Static<typeof articleSchema>;
