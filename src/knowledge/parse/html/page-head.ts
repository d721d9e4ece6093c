import { Parser } from "htmlparser2";
import { charsetOfHtml, decodeText } from "../decode-text.ts";
import type { ReadableType } from "#knowledge/documents/file-types.ts";
import { createDepthGuard } from "#knowledge/documents/blocks.ts";
import { pageUrl } from "#knowledge/crawl/page-url.ts";

/** Directives and links of a page. Addresses are of the page's own origin, without fragments. */
export interface PageHead {
  readonly links: readonly string[];
  /** The address of `<link rel=canonical>`. */
  readonly canonical: string | null;
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

const linksMax = 5_000;
const robotNames = new Set(["robots", "parleybot"]);

interface Page {
  readonly bytes: Uint8Array;
  readonly type: ReadableType;
  readonly charset?: string;
}

/** Reads a stream of tags, so the time does not depend on how deep they nest. `url`: where the page was fetched. */
export function readPageHead({ bytes, type, charset }: Page, url: string): PageHead {
  const links = new Set<string>();
  const rules = new Set<string>();
  let canonical: string | null = null;
  let base = url;
  if (type !== "text/html") return { links: [], canonical, noindex: false, nofollow: false };
  const addLink = (href: string | undefined): void => {
    if (href === undefined || links.size >= linksMax) return;
    const link = pageUrl(href, base);
    if (link !== null && new URL(link).origin === new URL(url).origin) links.add(link);
  };
  const depth = createDepthGuard();
  const parser = new Parser(
    {
      onclosetag: depth.close,
      onopentag(name, attributes) {
        depth.open();
        const { href } = attributes;
        switch (name) {
          case "base":
            if (href !== undefined && base === url) base = URL.parse(href, url)?.href ?? url;
            return;
          case "meta":
            if (attributes["http-equiv"]?.toLowerCase() === "refresh")
              addLink(refreshTarget(attributes["content"] ?? ""));
            if (!robotNames.has(attributes["name"]?.toLowerCase() ?? "")) return;
            for (const rule of robotRules(attributes["content"] ?? "")) rules.add(rule);
            return;
          case "link":
            if (href !== undefined && relations(attributes["rel"]).includes("canonical")) {
              canonical ??= pageUrl(href, base);
            }
            return;
          case "a":
          case "area": {
            if (!relations(attributes["rel"]).includes("nofollow")) addLink(href);
            return;
          }
          default:
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(decodeText(bytes, charset ?? charsetOfHtml(bytes)));
  return { links: [...links], canonical, noindex: rules.has("noindex"), nofollow: rules.has("nofollow") };
}

/** The address in "0; url=/new-page", which leads visitors on. */
const refreshTarget = (content: string): string | undefined =>
  /^[ \t]{0,9}[\d.]{1,9}[ \t]{0,9}[;,][ \t]{0,9}(?:url[ \t]{0,9}=[ \t]{0,9})?["']?([^"']{1,2000})/i
    .exec(content)?.[1]
    ?.trim();

/** Splits "noindex, follow"; "none" also gives the rules it is short for. */
export function robotRules(content: string): string[] {
  const rules = content
    .toLowerCase()
    .split(",")
    .map((rule) => rule.trim());
  return rules.includes("none") ? [...rules, "noindex", "nofollow"] : rules;
}

const relations = (rel: string | undefined): string[] => (rel ?? "").toLowerCase().split(/\s+/);
