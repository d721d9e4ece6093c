const questionNames = new Set(["question", "q", "frage", "pregunta", "faq", "title", "heading", "subject", "topic"]);
const answerNames = new Set([
  "answer",
  "a",
  "antwort",
  "respuesta",
  "content",
  "body",
  "text",
  "description",
  "solution",
  "reply",
  "response",
]);

export interface QuestionFields {
  readonly question: number;
  readonly answer: number;
}

/** Finds the fields with a question and its answer, or a title and its text, in exported FAQs. */
export function questionFields(names: readonly string[]): QuestionFields | undefined {
  const plain = names.map((name) => name.trim().toLowerCase());
  const question = plain.findIndex((name) => questionNames.has(name));
  const answer = plain.findIndex((name) => answerNames.has(name));
  return question === -1 || answer === -1 ? undefined : { question, answer };
}
