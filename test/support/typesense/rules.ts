// The parameters of the API and their types, taken from its published description.

type Kind = "string" | "integer" | "boolean";

const kinds = (kind: Kind, names: string): [string, Kind][] =>
  names
    .split(/\s+/)
    .filter((name) => name !== "")
    .map((name) => [name, kind]);

const searchParameters: ReadonlyMap<string, Kind> = new Map([
  ...kinds(
    "string",
    `collection q query_by query_by_weights text_match_type prefix infix filter_by sort_by facet_by facet_query num_typos
    group_by include_fields exclude_fields highlight_full_fields highlight_fields highlight_start_tag highlight_end_tag
    drop_tokens_mode pinned_hits hidden_hits curation_tags preset vector_query stopwords facet_strategy`,
  ),
  ...kinds(
    "integer",
    `max_extra_prefix max_extra_suffix max_facet_values page per_page limit offset group_limit highlight_affix_num_tokens
    snippet_threshold drop_tokens_threshold typo_tokens_threshold synonym_num_typos search_cutoff_ms cache_ttl
    min_len_1typo min_len_2typo remote_embedding_timeout_ms remote_embedding_num_tries`,
  ),
  ...kinds(
    "boolean",
    `group_missing_values enable_typos_for_alpha_numerical_tokens filter_curated_hits enable_synonyms enable_analytics
    synonym_prefix pre_segmented_query enable_curations prioritize_exact_match prioritize_token_position
    prioritize_num_matching_fields enable_typos_for_numerical_tokens exhaustive_search validate_field_names`,
  ),
  // Documented in the manual, not in the description.
  ["split_join_tokens", "string"],
]);

const fieldSettings: ReadonlyMap<string, Kind | "list"> = new Map<string, Kind | "list">([
  ...kinds("string", "name type locale reference vec_dist stem_dictionary"),
  ...kinds("boolean", "optional facet index sort infix async_reference drop store range_index stem"),
  ...kinds("integer", "num_dim"),
  ["token_separators", "list"],
  ["symbols_to_index", "list"],
]);

const schemaSettings: ReadonlyMap<string, Kind | "list"> = new Map<string, Kind | "list">([
  ...kinds("string", "name default_sorting_field"),
  ...kinds("boolean", "enable_nested_fields"),
  ["fields", "list"],
  ["token_separators", "list"],
  ["symbols_to_index", "list"],
]);

const fieldTypes = /^(?:string|int32|int64|float|bool|geopoint|object|auto|string\*)(?:\[\])?$/;

const queryParameters: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /^POST \/collections\/[^/]+\/documents\/import$/,
    ["action", "dirty_values", "batch_size", "return_id", "return_doc"],
  ],
  [/^GET \/collections$/, ["exclude_fields", "limit", "offset"]],
  [/^DELETE \/collections\/[^/]+\/documents$/, ["filter_by", "batch_size", "ignore_not_found", "truncate"]],
];

/** Returns how a request violates the description; undefined if it does not. */
export function violationIn(method: string, url: URL, body: string): string | undefined {
  const route = `${method} ${url.pathname}`;
  const allowed = queryParameters.find(([pattern]) => pattern.test(route))?.[1] ?? [];
  for (const name of url.searchParams.keys()) if (!allowed.includes(name)) return `${route}: no parameter ${name}`;
  const action = url.searchParams.get("action");
  if (action !== null && !["create", "update", "upsert", "emplace"].includes(action))
    return `${route}: action ${action}`;
  if (route === "POST /multi_search") return mistakeInSearches(body);
  if (route === "POST /collections") return mistakeInSchema(body);
  return undefined;
}

function mistakeInSearches(body: string): string | undefined {
  const { searches } = JSON.parse(body) as { readonly searches?: unknown };
  if (!Array.isArray(searches)) return "multi_search: searches is no list";
  for (const search of searches as readonly Record<string, unknown>[]) {
    const violation = violationOf("multi_search", search, searchParameters, ["q", "query_by"]);
    if (violation !== undefined) return violation;
    const fields = String(search["query_by"]).split(",").length;
    for (const name of ["query_by_weights", "prefix", "num_typos"]) {
      const value = search[name];
      const given = typeof value === "string" ? value.split(",").length : 1;
      if (given !== 1 && given !== fields) return `multi_search: ${name} has ${given} values for ${fields} fields`;
    }
  }
  return undefined;
}

function mistakeInSchema(body: string): string | undefined {
  const schema = JSON.parse(body) as Record<string, unknown>;
  const violation = violationOf("schema", schema, schemaSettings, ["name", "fields"]);
  if (violation !== undefined) return violation;
  for (const field of schema["fields"] as readonly Record<string, unknown>[]) {
    const wrong = violationOf("field", field, fieldSettings, ["name", "type"]);
    if (wrong !== undefined) return wrong;
    if (!fieldTypes.test(String(field["type"]))) return `field: no type ${String(field["type"])}`;
    if (field["name"] === "id") return "field: id is there by itself";
    if (field["num_dim"] !== undefined && field["type"] !== "float[]") return "field: num_dim is for float[]";
  }
  return undefined;
}

function violationOf(
  what: string,
  given: Readonly<Record<string, unknown>>,
  known: ReadonlyMap<string, Kind | "list">,
  needed: readonly string[],
): string | undefined {
  for (const name of needed) if (given[name] === undefined) return `${what}: ${name} is missing`;
  for (const [name, value] of Object.entries(given)) {
    const kind = known.get(name);
    if (kind === undefined) return `${what}: no parameter ${name}`;
    const right =
      kind === "integer" ? Number.isSafeInteger(value) : kind === "list" ? Array.isArray(value) : typeof value === kind;
    if (!right) return `${what}: ${name} is no ${kind}`;
  }
  return undefined;
}
