const questionNames = new Set(["question", "q", "frage", "pregunta", "faq", "title", "heading", "subject", "topic"]);
/** In the order of preference: a description beside a body is a summary of it. */
const answerNames = [
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
];

export interface QuestionFields {
  readonly question: number;
  readonly answer: number;
}

/** Finds the fields with a question and its answer, or a title and its text, in exported FAQs. */
export function questionFields(names: readonly string[]): QuestionFields | undefined {
  const plain = names.map((name) => name.trim().toLowerCase());
  const question = plain.findIndex((name) => questionNames.has(name));
  const answerName = answerNames.find((name) => plain.includes(name));
  return question === -1 || answerName === undefined ? undefined : { question, answer: plain.indexOf(answerName) };
}
