import { Problem } from "#domain/problem.ts";

export function conversationNotFound(): Problem {
  return new Problem("conversation_not_found", "There is no conversation with this id.");
}
