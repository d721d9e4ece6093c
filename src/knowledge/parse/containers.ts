const indentation = 4;
const fence = /^\s*(`{3,}|~{3,})/;
/** Signs that only count at the beginning of a line: the label comes above them. */
const ownLine = /^\s*(?:[-*+]\s|\d+[.)]\s|[#>|<]|`{3}|~{3})/;
/** A line of nothing but components of MDX. */
const elements = /^(?:<\/?[A-Z][^<>]*>\s*)+$/;
const notices = /^(?:note|tip|hint|info|important|warning|caution|danger|attention|error|success|example|question)$/i;

/**
 * Turns the notices and tabs of documentation generators into plain Markdown: `:::warning` of Docusaurus and VitePress,
 * `!!! danger "Title"` and `=== "Tab"` of MkDocs, and elements of MDX that have a title. The kind of a notice comes before
 * its first words, and the name of a tab above its text.
 */
export function withoutContainers(source: string): string {
  if (!/^[ \t]*(?::::|!!!|\?\?\?|=== ?"|<[A-Z]|import )/m.test(source)) return source;
  const lines: string[] = [];
  let closing: string | undefined;
  let label: string | undefined;
  let levels = 0;
  for (const line of source.split("\n")) {
    const spaces = /^ */.exec(line)?.[0].length ?? 0;
    const level = Math.min(levels, Math.floor(spaces / indentation));
    const content = line.slice(level * indentation);
    if (closing !== undefined) {
      lines.push(content);
      if (content.trim().startsWith(closing)) closing = undefined;
      continue;
    }
    if (content.trim() === "") {
      lines.push("");
      continue;
    }
    levels = level;
    const opened = opening(content);
    if (opened !== undefined) {
      if (opened.isIndented) levels += 1;
      if (opened.name !== undefined) lines.push("", `**${opened.name}**`, "");
      if (opened.label !== undefined) label = opened.label;
      continue;
    }
    closing = fence.exec(content)?.[1];
    if (label === undefined) lines.push(content);
    else if (ownLine.test(content)) lines.push("", `${label}:`, "", content);
    else lines.push("", `${label}: ${content.trimStart()}`);
    label = undefined;
  }
  return lines.join("\n");
}

interface Opening {
  /** Comes before the first words. */
  readonly label?: string;
  /** Stands above the text. */
  readonly name?: string;
  /** The text is indented. */
  readonly isIndented?: true;
}

/** The meaning of a line that begins or ends a container; undefined: it is text. */
function opening(line: string): Opening | undefined {
  const text = line.trim();
  if (/^(?:import|export)\s[^;]*\sfrom\s+["'][^"']+["'];?$/.test(text) || /^:{3,}$/.test(text)) return {};
  const directive = /^:{3,} ?\{?\.?([\w-]+)\}? ?(?:\[([^\]]*)\]|([^{}]*))(?:\{[^}]*\})?$/.exec(text);
  if (directive !== null) return noticeOf(directive[1] ?? "", directive[2] ?? directive[3] ?? "");
  const [, kind = "", title] = /^(?:!!!|\?\?\?\+?) ([a-z-]+)(?: inline(?: end)?)?(?: "([^"]*)")?$/.exec(text) ?? [];
  if (title !== undefined || notices.test(kind)) return { ...noticeOf(kind, title ?? ""), isIndented: true };
  const tab = /^===[!+]? ?"([^"]+)"$/.exec(text)?.[1];
  if (tab !== undefined) return { name: tab, isIndented: true };
  const element = elements.test(text) ? /\s(?:label|title)=["']([^"'>]+)["']/.exec(text)?.[1] : undefined;
  return element === undefined ? undefined : { name: element };
}

function noticeOf(kind: string, title: string): Opening {
  const name = title.trim().replace(/[:.]$/, "");
  if (!notices.test(kind)) return name === "" ? {} : { name };
  return { label: name === "" ? kind.slice(0, 1).toUpperCase() + kind.slice(1).toLowerCase() : name };
}
