import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel, ToolSet } from "ai";
import { extractReasoningMiddleware, jsonSchema, streamText, tool, wrapLanguageModel } from "ai";
import type { ModelTool } from "./language-model.ts";
import { ModelFailure } from "./language-model.ts";
import type { ModelConfig } from "#config/models.ts";
import { failureOf } from "./errors.ts";

/** One attempt to write a text. */
export interface ProviderRequest {
  readonly system: string;
  readonly user: string;
  readonly temperature: number;
  readonly tokensMax: number;
  readonly tools?: readonly ModelTool[];
}

export type ProviderPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly input: unknown }
  /** Output other than text, such as the model's reasoning. */
  | { readonly kind: "sign" }
  | {
      readonly kind: "end";
      readonly finish: "complete" | "length" | "refused";
      readonly tokensUsed: number;
    };

/** Throws `ModelFailure`. */
export type Provider = (request: ProviderRequest, signal: AbortSignal) => AsyncIterable<ProviderPart>;

/** Longer responses are not read, so that they do not fill the memory. */
const responseBytesMax = 8_000_000;

// The library's warnings are for developers, and would appear in the output of commands.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

const fetchBounded: typeof fetch = async (input, init) => {
  // The key must not follow a redirect to another address.
  const response = await fetch(input, { ...init, redirect: "error" });
  if (response.body === null) return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > responseBytesMax) controller.error(new Error("the response is too large"));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, { status: response.status, statusText: response.statusText, headers: response.headers });
};

function modelOf({ provider, baseUrl, name, apiKey }: ModelConfig): Exclude<LanguageModel, string> {
  switch (provider) {
    case "openai":
      return createOpenAI({
        baseURL: baseUrl ?? "https://api.openai.com/v1",
        apiKey: apiKey ?? "",
        fetch: fetchBounded,
      }).chat(name);
    case "anthropic":
      return createAnthropic({
        baseURL: baseUrl ?? "https://api.anthropic.com/v1",
        apiKey: apiKey ?? "",
        fetch: fetchBounded,
      })(name);
    case "openai-compatible":
      return createOpenAICompatible({
        name: "openai-compatible",
        baseURL: baseUrl ?? "",
        ...(apiKey === undefined ? {} : { apiKey }),
        includeUsage: true,
        fetch: fetchBounded,
      }).chatModel(name);
  }
}

export function createProvider(config: ModelConfig): Provider {
  const bare = modelOf(config);
  // Self-hosted models often write their reasoning into the text.
  const model =
    typeof bare === "object" && bare.specificationVersion === "v3"
      ? wrapLanguageModel({ model: bare, middleware: extractReasoningMiddleware({ tagName: "think" }) })
      : bare;

  return async function* stream({ system, user, temperature, tokensMax, tools = [] }, signal) {
    try {
      const { fullStream } = streamText({
        model,
        system,
        prompt: user,
        temperature,
        maxOutputTokens: tokensMax,
        maxRetries: 0,
        ...(tools.length === 0 ? {} : { tools: toolSet(tools), toolChoice: "auto" }),
        abortSignal: signal,
        // The library's default prints the error, which contains the request.
        onError: () => undefined,
      });
      for await (const part of fullStream) {
        switch (part.type) {
          case "text-delta":
            yield { kind: "text", text: part.text };
            break;
          case "tool-call":
            // Invalid calls, and calls of unknown tools, are ignored.
            yield part.invalid === true ? { kind: "sign" } : { kind: "call", name: part.toolName, input: part.input };
            break;
          case "error":
            throw part.error;
          case "finish":
            // The connection was closed properly, but before the end of the answer.
            if (part.rawFinishReason === undefined) {
              throw new ModelFailure("broken", "the model's answer ended in the middle");
            }
            yield {
              kind: "end",
              finish:
                part.finishReason === "length"
                  ? "length"
                  : part.finishReason === "content-filter"
                    ? "refused"
                    : "complete",
              tokensUsed: tokensOf(part.totalUsage),
            };
            break;
          case "reasoning-delta":
            yield { kind: "sign" };
            break;
          default:
            break;
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, config);
    }
  };
}

/** The tools have no code to run: calls are only reported. */
function toolSet(tools: readonly ModelTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, schema }) => [name, tool({ description, inputSchema: jsonSchema(schema) })]),
  );
}

function tokensOf(usage: {
  readonly totalTokens: number | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}): number {
  const total = usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  return Number.isSafeInteger(total) && total >= 0 ? Math.min(total, 2_147_483_647) : 0;
}
