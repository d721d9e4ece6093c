import type { SavedReply } from "#http/inbox/wire.ts";

/** The saved replies whose name begins with the query, then those that have it anywhere. */
export function matching(replies: readonly SavedReply[], query: string): readonly SavedReply[] {
  const wanted = query.toLowerCase();
  const [begin, hold] = [
    (reply: SavedReply): boolean => reply.name.startsWith(wanted),
    (reply: SavedReply): boolean => `${reply.name}\n${reply.text}`.toLowerCase().includes(wanted),
  ];
  return [...replies.filter(begin), ...replies.filter((reply) => !begin(reply) && hold(reply))];
}
