import { ConfigError } from "./config-error.ts";

export type Value = (name: string) => string | undefined;

export const modelProviders = ["openai", "anthropic", "openai-compatible"] as const;

/** The language model that words answers. */
export interface ModelConfig {
  readonly provider: (typeof modelProviders)[number];
  /** Undefined: the provider's own address. Without a slash at the end. */
  readonly baseUrl: string | undefined;
  readonly name: string;
  readonly apiKey: string | undefined;
  /** The statements of an answer that the model checks in a second call; `words`: none. Default: `doubtful`. */
  readonly check?: (typeof modelChecks)[number];
}

const modelChecks = ["doubtful", "every", "words"] as const;

export const embeddingProviders = ["openai", "openai-compatible"] as const;

/** The way to find passages by meaning. `built-in`: the encoder in this process, for English, if its packages are installed. */
export type EmbeddingConfig = { readonly provider: "built-in" } | EmbeddingServer;

export interface EmbeddingServer {
  readonly provider: (typeof embeddingProviders)[number];
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly name: string;
  readonly apiKey: string | undefined;
  /** The words before each text, as the model expects them; `auto`: found out on the documents. Default: `auto`. */
  readonly prefixes?: (typeof embeddingPrefixes)[number];
}

/** A server that orders passages for the language model. */
export interface RerankerServer {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly name: string;
  readonly apiKey: string | undefined;
}

const embeddingPrefixes = ["auto", "none", "e5", "nomic", "instruct"] as const;

export function modelOf(value: Value, secretValue: Value): ModelConfig | undefined {
  const given = value("MODEL_PROVIDER");
  const name = value("MODEL_NAME");
  const baseUrl = value("MODEL_BASE_URL");
  const apiKey = secretValue("MODEL_API_KEY");
  const check = value("MODEL_CHECK");
  if (given === undefined) {
    const left = firstSet({ MODEL_NAME: name, MODEL_BASE_URL: baseUrl, MODEL_API_KEY: apiKey, MODEL_CHECK: check });
    if (left === undefined) return undefined;
    throw new ConfigError(
      `${left} is set and MODEL_PROVIDER is not: set it to ${modelProviders.join(", ")}, or unset ${left}`,
    );
  }
  const provider = modelProviders.find((each) => each === given);
  if (provider === undefined) throw new ConfigError(`MODEL_PROVIDER is "${given}": use ${modelProviders.join(", ")}`);
  if (name === undefined) {
    throw new ConfigError("MODEL_NAME is missing: set it to the name of the model, as its provider writes it");
  }
  if (provider === "openai-compatible" && baseUrl === undefined) {
    throw new ConfigError("MODEL_BASE_URL is missing: openai-compatible needs it, such as http://localhost:11434/v1");
  }
  if (provider !== "openai-compatible" && apiKey === undefined) {
    throw new ConfigError(`MODEL_API_KEY is missing: ${provider} needs a key; set it, or MODEL_API_KEY_FILE`);
  }
  requireKey(apiKey, "MODEL_API_KEY");
  const checks = modelChecks.find((each) => each === (check ?? "doubtful"));
  if (checks === undefined) throw new ConfigError(`MODEL_CHECK is "${check}": use ${modelChecks.join(", ")}`);
  return { provider, name, apiKey, baseUrl: baseUrl === undefined ? undefined : modelUrlOf(baseUrl), check: checks };
}

export function embeddingOf(value: Value, secretValue: Value): EmbeddingConfig | undefined {
  const given = value("EMBEDDING_PROVIDER");
  const name = value("EMBEDDING_NAME");
  const baseUrl = value("EMBEDDING_BASE_URL");
  const apiKey = secretValue("EMBEDDING_API_KEY");
  const before = value("EMBEDDING_PREFIXES");
  if (given === undefined) {
    const left = firstSet({
      EMBEDDING_NAME: name,
      EMBEDDING_BASE_URL: baseUrl,
      EMBEDDING_API_KEY: apiKey,
      EMBEDDING_PREFIXES: before,
    });
    if (left === undefined) return { provider: "built-in" };
    throw new ConfigError(
      `${left} is set and EMBEDDING_PROVIDER is not: set it to ${embeddingProviders.join(" or ")}, or unset ${left}`,
    );
  }
  if (given === "off") return undefined;
  if (given === "built-in") return { provider: given };
  const provider = embeddingProviders.find((each) => each === given);
  if (provider === undefined) {
    throw new ConfigError(`EMBEDDING_PROVIDER is "${given}": use built-in, off, ${embeddingProviders.join(" or ")}`);
  }
  if (name === undefined || name.length > 150) {
    throw new ConfigError("EMBEDDING_NAME: set it to the name of the embedding model, as its provider writes it");
  }
  if (provider === "openai-compatible" && baseUrl === undefined) {
    throw new ConfigError(
      "EMBEDDING_BASE_URL is missing: openai-compatible needs it, such as http://localhost:11434/v1",
    );
  }
  if (provider === "openai" && apiKey === undefined) {
    throw new ConfigError("EMBEDDING_API_KEY is missing: openai needs a key; set it, or EMBEDDING_API_KEY_FILE");
  }
  requireKey(apiKey, "EMBEDDING_API_KEY");
  const prefixes = embeddingPrefixes.find((each) => each === (before ?? "auto"));
  if (prefixes === undefined)
    throw new ConfigError(`EMBEDDING_PREFIXES is "${before}": use ${embeddingPrefixes.join(", ")}`);
  const url = modelUrlOf(baseUrl ?? "https://api.openai.com/v1", "EMBEDDING_BASE_URL");
  return { provider, name, apiKey, baseUrl: url, prefixes };
}

/** With a language model only: without one, the order of passages decides which of them is quoted, and is calibrated. */
export function rerankerOf(
  value: Value,
  secretValue: Value,
  model: ModelConfig | undefined,
): RerankerServer | undefined {
  const baseUrl = value("RERANKER_BASE_URL");
  const name = value("RERANKER_NAME");
  const apiKey = secretValue("RERANKER_API_KEY");
  if (baseUrl === undefined) {
    const left = firstSet({ RERANKER_NAME: name, RERANKER_API_KEY: apiKey });
    if (left === undefined) return undefined;
    throw new ConfigError(
      `${left} is set and RERANKER_BASE_URL is not: set it to the address before /rerank, such as https://api.cohere.com/v2, or unset ${left}`,
    );
  }
  if (model === undefined) {
    throw new ConfigError(
      "RERANKER_BASE_URL is set and MODEL_PROVIDER is not: a reranker chooses passages for a language model; set MODEL_PROVIDER, or unset RERANKER_BASE_URL",
    );
  }
  if (name === undefined) {
    throw new ConfigError("RERANKER_NAME is missing: set it to the name of the model, as its provider writes it");
  }
  requireKey(apiKey, "RERANKER_API_KEY");
  // Manuals give the address with `/rerank` at its end.
  const url = modelUrlOf(baseUrl, "RERANKER_BASE_URL", "https://api.cohere.com/v2").replace(/\/rerank$/, "");
  return { baseUrl: url, name, apiKey };
}

function firstSet(values: Readonly<Record<string, string | undefined>>): string | undefined {
  return Object.keys(values).find((variable) => values[variable] !== undefined);
}

/** A key becomes a header, which allows these characters only. The error must not quote the key. */
function requireKey(apiKey: string | undefined, variable: string): void {
  if (apiKey === undefined || /^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new ConfigError(`${variable} has characters that no key has, such as a space: check how it was copied`);
}

function modelUrlOf(given: string, variable = "MODEL_BASE_URL", example = "http://localhost:11434/v1"): string {
  const url = URL.parse(given);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== "" ||
    url.password !== "" ||
    url.search !== "" ||
    url.hash !== ""
  ) {
    throw new ConfigError(
      `${variable}: use an http or https address without password, query and fragment, such as ${example}`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
