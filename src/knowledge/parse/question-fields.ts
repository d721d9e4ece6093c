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

/** Which of these fields hold a question and its answer (or a title and its text), as lists of FAQs are exported. */
export function questionFields(names: readonly string[]): QuestionFields | undefined {
  const plain = names.map((name) => name.trim().toLowerCase());
  const question = plain.findIndex((name) => questionNames.has(name));
  const answer = plain.findIndex((name) => answerNames.has(name));
  return question === -1 || answer === -1 ? undefined : { question, answer };
}
