import { hash } from "node:crypto";
import { problemStatus } from "#domain/problem.ts";
import { problemCodes, problemMeaning } from "./problem.ts";

/** The part of a JSON Schema that is shown. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly default?: string | number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
}

interface Body {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
}

interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const style = `
:root{color-scheme:light dark;--line:#d8dee4;--soft:#f5f7f9;--accent:#1f5fbf;--dim:#57606a}
@media (prefers-color-scheme:dark){:root{--line:#343a41;--soft:#1b2026;--accent:#7fb0ff;--dim:#9aa4ae}}
*{box-sizing:border-box}
body{font:16px/1.55 system-ui,sans-serif;margin:0 auto;max-width:64rem;padding:2rem 1rem 6rem}
h1{margin:0}h2{margin-top:3rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
a{color:var(--accent)}code{font:0.9em ui-monospace,monospace;background:var(--soft);padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}
nav ul{columns:2;padding-left:1rem}nav li{break-inside:avoid}
article{border:1px solid var(--line);border-radius:8px;padding:1rem 1.2rem;margin:1rem 0}
article h3{margin:0 0 .3rem;font-size:1rem;overflow-wrap:anywhere}
.method{font:700 .85em ui-monospace,monospace;color:var(--accent);margin-right:.4rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.4rem 0}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-top:1px solid var(--line)}
th{border-top:0;color:var(--dim);font-weight:600}h4{margin:1rem 0 0;font-size:.9rem;color:var(--dim)}
.dim{color:var(--dim)}
@media (max-width:40rem){nav ul{columns:1}}
`;

/** The API reference as one page without script, and the policy that it can be shown under. */
export function referencePage(source: object): { readonly html: string; readonly policy: string } {
  const api = source as OpenApi;
  const operations = Object.entries(api.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as Operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags ?? []))];
  const anchor = (method: string, path: string): string => `${method}-${path}`.replaceAll(/[^a-z]+/gi, "-");
  const sections = tags.map((tag) => {
    const of = operations.filter(({ operation }) => operation.tags?.includes(tag));
    return {
      menu: of
        .map(
          ({ path, method, operation }) =>
            `<li><a href="#${anchor(method, path)}">${escape(operation.summary ?? path)}</a></li>`,
        )
        .join(""),
      html: `<section><h2>${escape(tag)}</h2>${of
        .map(({ path, method, operation }) => article(anchor(method, path), method, path, operation))
        .join("")}</section>`,
    };
  });
  const codes = problemCodes
    .map(
      (code) =>
        `<tr><td>${problemStatus[code]}</td><td><code>${code}</code></td><td>${inline(problemMeaning[code])}</td></tr>`,
    )
    .join("");
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escape(api.info.title)}</title><style>${style}</style></head><body>
<header><h1>${escape(api.info.title)}</h1>
<p class="dim">Version ${escape(api.info.version)} · <code>${escape(api.servers?.[0]?.url ?? "")}</code> · <a href="/openapi.json">OpenAPI 3.1 document</a></p></header>
${(api.info.description ?? "")
  .split("\n\n")
  .map((text) => `<p>${inline(text)}</p>`)
  .join("\n")}
<nav aria-label="Operations"><ul>${sections.map(({ menu }) => menu).join("")}<li><a href="#errors">Error codes</a></li></ul></nav>
<main>${sections.map((each) => each.html).join("\n")}
<section><h2 id="errors">Error codes</h2><div class="scroll"><table><tr><th>Status</th><th>code</th><th>Meaning</th></tr>${codes}</table></div></section>
</main></body></html>`;
  const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'`;
  return { html, policy };
}

function article(id: string, method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((each) =>
    row(each.name, each.schema ?? {}, each.required === true, `in ${each.in}`),
  );
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const responses = Object.entries(operation.responses ?? {}).map(
    ([status, { description, content }]) =>
      `<tr><td>${escape(status)}</td><td>${inline(summaryOf(status, description, content))}</td></tr>`,
  );
  const success = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith("2"))?.[1];
  const result = Object.values(success?.content ?? {})[0]?.schema;
  return `<article id="${id}"><h3><span class="method">${escape(method.toUpperCase())}</span><code>${escape(path)}</code></h3>
<p>${inline(operation.summary ?? "")}.${operation.description === undefined ? "" : ` ${inline(operation.description)}`}</p>
${table("Parameters", parameters)}${table("Body", fields(body))}${table("Response", fields(result))}
<h4>Statuses</h4><div class="scroll"><table>${responses.join("")}</table></div></article>`;
}

function summaryOf(status: string, description: string | undefined, content: Body["content"]): string {
  if (description !== undefined && description !== "Default Response") return description;
  return content === undefined ? "No body" : status.startsWith("2") ? "Success" : "";
}

function table(title: string, rows: readonly string[]): string {
  if (rows.length === 0) return "";
  return `<h4>${title}</h4><div class="scroll"><table>${rows.join("")}</table></div>`;
}

/** Fields of objects within objects are named by their path. */
function fields(schema: Schema | undefined, prefix = "", depth = 0): string[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const inner =
      field.properties !== undefined ? field : field.items?.properties !== undefined ? field.items : undefined;
    const own = row(path, field, schema?.required?.includes(name) === true, "");
    if (inner === undefined || depth > 2) return [own];
    return [own, ...fields(inner, `${path}${inner === field ? "" : "[]"}.`, depth + 1)];
  });
}

function row(name: string, schema: Schema, required: boolean, where: string): string {
  const notes = [
    typeOf(schema),
    required ? "**required**" : "",
    where,
    schema.default === undefined ? "" : `default ${schema.default}`,
    bounds(schema),
    schema.description ?? "",
  ].filter((text) => text !== "");
  return `<tr><td><code>${escape(name)}</code></td><td>${inline(notes.join(" · "))}</td></tr>`;
}

function typeOf(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.type === "array") return `array of ${typeOf(schema.items ?? {})}`;
  return schema.format === "date-time" ? "timestamp" : (schema.type ?? "any");
}

function bounds(schema: Schema): string {
  const span = (least: number | undefined, most: number | undefined, unit: string): string =>
    least === undefined && most === undefined
      ? ""
      : most === undefined
        ? `at least ${least}${unit}`
        : `${least === undefined ? "at most " : `${least} to `}${most.toLocaleString("en")}${unit}`;
  return (
    span(schema.minimum, schema.maximum, "") ||
    span(schema.minLength, schema.maxLength, " characters") ||
    span(schema.minItems, schema.maxItems, " entries")
  );
}

/** Backticks and double stars of the descriptions; all else is text. */
function inline(text: string): string {
  return escape(text)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
