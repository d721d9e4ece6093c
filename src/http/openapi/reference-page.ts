import { hash } from "node:crypto";
import { problemStatus } from "#domain/problem.ts";
import { problemCodes, problemMeaning } from "#http/problem.ts";
import { escapeHtml } from "#channels/text/escape-html.ts";

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

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Body {
  readonly description?: string;
  readonly content?: Readonly<Record<string, Content>>;
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
    readonly description?: string;
    readonly example?: unknown;
  }[];
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
}

interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly servers?: readonly { readonly url: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const style = `
:root{color-scheme:light dark;--back:#fff;--text:#1c2127;--line:#d8dee4;--soft:#f5f7f9;--accent:#1f5fbf;--dim:#57606a}
@media (prefers-color-scheme:dark){:root{--back:#12161a;--text:#e6e9ed;--line:#343a41;--soft:#1b2026;--accent:#7fb0ff;--dim:#9aa4ae}}
*{box-sizing:border-box}
body{background:var(--back);color:var(--text);font:16px/1.55 system-ui,sans-serif;margin:0 auto;max-width:64rem;padding:2rem 1rem 6rem}
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
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.7rem .9rem;overflow-x:auto;margin:.4rem 0;font:.85rem/1.5 ui-monospace,monospace;tab-size:2}
pre.copy{user-select:all}
summary{cursor:pointer;margin-top:1rem;font-size:.9rem;font-weight:600;color:var(--dim)}
h3 a.here{margin-left:.4rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
article,h2{scroll-margin-top:1rem}article:target{border-color:var(--accent)}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
td:first-child code{white-space:nowrap}
@media (max-width:40rem){nav ul{columns:1}td{display:block;border-top:0;padding-top:0}td:first-child{border-top:1px solid var(--line);padding-top:.3rem}}
`;

/** The API reference as one page without script, and its content security policy. */
export function referencePage(source: object): { readonly html: string; readonly policy: string } {
  const api = source as OpenApi;
  const operations = Object.entries(api.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as Operation })),
  );
  const tags = (api.tags ?? []).filter(({ name }) =>
    operations.some(({ operation }) => operation.tags?.includes(name)),
  );
  const anchor = (method: string, path: string): string => `${method}-${path}`.replaceAll(/[^a-z]+/gi, "-");
  const sections = tags.map(({ name: tag, description = "" }) => {
    const of = operations.filter(({ operation }) => operation.tags?.includes(tag));
    return {
      menu: of
        .map(
          ({ path, method, operation }) =>
            `<li><a href="#${anchor(method, path)}">${escapeHtml(operation.summary ?? path)}</a></li>`,
        )
        .join(""),
      html: `<section><h2>${escapeHtml(tag)}</h2><p>${inline(description)}</p>${of
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
<title>${escapeHtml(api.info.title)}</title><style>${style}</style></head><body>
<a class="skip" href="#operations">Skip to the operations</a>
<header><h1>${escapeHtml(api.info.title)}</h1>
<p class="dim">Version ${escapeHtml(api.info.version)} · <code>${escapeHtml(api.servers?.[0]?.url ?? "")}</code> · <a href="/openapi.json">OpenAPI 3.1 document</a></p></header>
<main>
${(api.info.description ?? "")
  .split("\n\n")
  .map((text) => `<p>${inline(text)}</p>`)
  .join("\n")}
<nav aria-label="Operations"><ul>${sections.map(({ menu }) => menu).join("")}<li><a href="#errors">Error codes</a></li></ul></nav>
<section><h2>Before the examples</h2>
<p>The examples are for a POSIX shell with <code>curl</code>. They use three variables; the key is shown once, when it is made.</p>
<pre class="copy" tabindex="0">${escapeHtml(`export PARLEY_URL=${api.servers?.[0]?.url ?? ""}\nexport PARLEY_KEY=ak_…\nexport WORKSPACE_ID=wt_…`)}</pre></section>
<div id="operations">${sections.map((each) => each.html).join("\n")}
<section><h2 id="errors">Error codes</h2><div class="scroll"><table><tr><th>Status</th><th>code</th><th>Meaning</th></tr>${codes}</table></div></section>
</div></main></body></html>`;
  const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'`;
  return { html, policy };
}

function article(id: string, method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((each) =>
    row(
      each.name,
      each.description === undefined ? (each.schema ?? {}) : { ...each.schema, description: each.description },
      each.required === true,
      `in ${each.in}`,
    ),
  );
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const responses = Object.entries(operation.responses ?? {}).map(
    ([status, { description, content }]) =>
      `<tr><td>${escapeHtml(status)}</td><td>${inline(summaryOf(status, description, content))}</td></tr>`,
  );
  const success = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith("2"))?.[1];
  const { schema: result, example } = Object.values(success?.content ?? {})[0] ?? {};
  return `<article id="${id}"><h3><span class="method">${escapeHtml(method.toUpperCase())}</span><code>${escapeHtml(path)}</code><a class="here" href="#${id}" aria-label="Link to this operation">#</a></h3>
<p>${inline(operation.summary ?? "")}.${operation.description === undefined ? "" : ` ${inline(operation.description)}`}</p>
<pre class="copy" tabindex="0" aria-label="Example request">${escapeHtml(curl(method, path, operation))}</pre>
${table("Parameters", parameters)}${table("Body", fields(body))}${folded("Example response", exampleText(example))}${table("Response", fields(result))}
<details><summary>Statuses and error codes</summary><div class="scroll"><table>${responses.join("")}</table></div></details></article>`;
}

function exampleText(example: unknown): string {
  if (example === undefined) return "";
  return typeof example === "string" ? example : JSON.stringify(example, undefined, 2);
}

function folded(title: string, text: string): string {
  return text === "" ? "" : `<details><summary>${title}</summary><pre tabindex="0">${escapeHtml(text)}</pre></details>`;
}

/** The operation's own examples as a command for a shell. */
function curl(method: string, path: string, operation: Operation): string {
  const parameters = operation.parameters ?? [];
  const named = (name: string, value: unknown): string => (name === "workspace_id" ? "$WORKSPACE_ID" : String(value));
  const filled = path.replaceAll(/\{([^}]+)\}/g, (whole, name: string) => {
    const example = parameters.find((each) => each.name === name)?.example;
    return typeof example === "string" ? example : whole;
  });
  const query = parameters
    .filter((each) => each.in === "query" && each.example !== undefined)
    .map(({ name, example }) => `${name}=${named(name, example)}`)
    .join("&");
  const lines = [
    `curl ${path.endsWith("/stream") ? "-sN" : "-s"}${["get", "post"].includes(method) ? "" : ` -X ${method.toUpperCase()}`} "$PARLEY_URL${filled}${query === "" ? "" : `?${query}`}"`,
    '-H "Authorization: Bearer $PARLEY_KEY"',
  ];
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const given = (content?.example ?? {}) as Readonly<Record<string, unknown>>;
  if (type === "application/json") {
    // In double quotes, in which the shell replaces the variable.
    const json = JSON.stringify({ ...given, ...("workspace_id" in given ? { workspace_id: "$WORKSPACE_ID" } : {}) });
    lines.push('-H "Content-Type: application/json"', `-d "${json.replaceAll(/["\\`]/g, "\\$&")}"`);
  } else if (type !== undefined) {
    for (const [name, value] of Object.entries(given)) if (value !== "") lines.push(`-F "${name}=${String(value)}"`);
  }
  return lines.join(" \\\n  ");
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
  return `<tr><td><code>${escapeHtml(name)}</code></td><td>${inline(notes.join(" · "))}</td></tr>`;
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

/** Renders backticks and double stars of descriptions; the rest is text. */
function inline(text: string): string {
  return escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
}
