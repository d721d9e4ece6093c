export const turnLane = (conversationId: string): string => `think:${conversationId}`;
export const sendLane = (conversationId: string): string => `send:${conversationId}`;
export const ruleReplyLane = (conversationId: string): string => `speak:${conversationId}`;
/** Parts sent through another account than the conversation's. They wait for the conversation; nothing waits for them. */
export const followLane = (conversationId: string): string => `follow:${conversationId}`;
/** Reactions of agents. A late one holds up no message. */
export const reactionLane = (conversationId: string): string => `react:${conversationId}`;
export const surveyLane = (conversationId: string): string => `survey:${conversationId}`;
export const timerLane = (conversationId: string): string => `timer:${conversationId}`;
/** Moves the conversations of a merged contact to the contact that remains. */
export const moveLane = (contactId: string): string => `relink:${contactId}`;
export const indexLane = "index";
