import { locales } from "#language/locales.ts";

const joins = Object.values(locales)
  .filter(({ questions }) => questions.asks !== "")
  .map(({ questions: { and, asks } }) => `(?:${and}),? (?:${asks.split(/\s+/).join("|")})`)
  .join("|");
/** An English auxiliary begins a question only before a subject: not in "exist and are supported". */
const english = String.raw`(?:and|plus|also),? (?:also )?(?:(?:can|could|do|does|is|are|will|would|should) (?:i|we|you|u|it|its|he|she|they|their|there|this|that|these|those|the|my|our|your|a|an|one|each|someone|anyone|people|customers|users|agents)|how|what|whats|when|where|who|why|which)`;
/** A comma alone separates questions only when both begin with "how". */
const listed = String.raw`(?<=(?:^|[\s,])how [^,?]{1,200})[,;]\s+(?=how (?:do|does|can|much|many|long) )`;

/** Matches the boundary between two questions in one sentence. */
export const nextQuestion = new RegExp(`[,;]?\\s+(?=(?:${english}|${joins})(?![\\p{L}\\p{N}]))|${listed}`, "giu");
