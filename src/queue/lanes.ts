export const turnLane = (conversationId: string): string => `think:${conversationId}`;
export const sendLane = (conversationId: string): string => `send:${conversationId}`;
export const ruleReplyLane = (conversationId: string): string => `speak:${conversationId}`;
/** Of parts that go by another account than the conversation's own: they wait, and nothing waits for them. */
export const followLane = (conversationId: string): string => `follow:${conversationId}`;
export const timerLane = (conversationId: string): string => `timer:${conversationId}`;
/** Of a contact whose conversations have to be brought to whom it was merged into. */
export const moveLane = (contactId: string): string => `relink:${contactId}`;
export const indexLane = "index";
