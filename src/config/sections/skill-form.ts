import type { BuiltinSkill, LookupRequest, LookupSkill, SkillArgument } from "#domain/workspace/skill.ts";
import { builtinDescriptions, builtinPhrases } from "./builtin-skills.ts";

/** A skill as the configuration file writes it, without its request. */
export function fileBuiltinOf({ kind, name, enabled, description, phrases, answer, closed }: BuiltinSkill) {
  return {
    name,
    ...(enabled === false ? { enabled } : {}),
    use: kind,
    ...(description === builtinDescriptions[kind] ? {} : { description }),
    ...(phrases.join("\n") === builtinPhrases[kind].join("\n") ? {} : { phrases }),
    ...(answer === null ? {} : { answer }),
    ...(closed === null ? {} : { closed }),
  };
}

/** `request`: with those parts that may be shown. */
export function fileLookupOf<H>(
  skill: LookupSkill,
  { url, headers, body }: Omit<LookupRequest, "headers"> & { readonly headers: Readonly<Record<string, H>> },
) {
  const { name, enabled, description, verified, method, safe, timeoutMs, bytesMax } = skill;
  return {
    name,
    ...(enabled === false ? { enabled } : {}),
    description,
    ...(verified ? { verified } : {}),
    request: {
      method,
      url,
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(body === null ? {} : { body }),
      ...(safe && method !== "GET" ? { safe } : {}),
      timeout_seconds: timeoutMs / 1_000,
      bytes_max: bytesMax,
    },
    ...(skill.arguments.length === 0
      ? {}
      : { arguments: Object.fromEntries(skill.arguments.map((each) => [each.name, fileArgumentOf(each)])) }),
    ...(skill.phrases.length === 0 ? {} : { phrases: skill.phrases }),
    ...(skill.fields.length === 0 ? {} : { fields: skill.fields }),
    ...(skill.answer === null ? {} : { answer: skill.answer }),
    ...(skill.notFound === null ? {} : { not_found: skill.notFound }),
  };
}

function fileArgumentOf({ name: _, optional, shapes, maxLength, ...same }: SkillArgument) {
  return {
    ...same,
    ...(optional ? { optional } : {}),
    ...(shapes === undefined ? {} : { shape: shapes }),
    ...(maxLength === undefined ? {} : { max_length: maxLength }),
  };
}
