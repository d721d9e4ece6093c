/** A connection of a business account, as Telegram reports it. */
export interface FakeConnection {
  readonly id: string;
  readonly user: { readonly id: number; readonly is_bot: false; readonly first_name: string };
  readonly user_chat_id: number;
  readonly date: number;
  readonly rights: { readonly can_reply?: true };
  readonly is_enabled: boolean;
}

export interface FakeBusiness {
  /** Connects the bot with an owner's account, which ends the earlier connection. */
  connect(ownerId: number, given?: { readonly canReply?: boolean }): FakeConnection;
  disconnect(ownerId: number): FakeConnection;
  /** Takes note of who wrote in which chat. */
  delivered(update: object): void;
  /** The owner of the connection that a call names; undefined for the bot's own chats. */
  ownerOf(body: Readonly<Record<string, unknown>>): number | undefined;
  /** The connection; undefined for an unknown one. */
  get(id: unknown): FakeConnection | undefined;
  /** Telegram's error for a call that may not be made; undefined: it may. */
  refusalOf(method: string, body: Readonly<Record<string, unknown>>): string | undefined;
}

interface Delivered {
  readonly from?: { readonly id: number };
  readonly chat: { readonly id: number };
  readonly business_connection_id?: string;
}

const windowMs = 24 * 3_600_000;
/** Calls that concern a chat. */
const inChat = /^(?:send|edit)/;

/** Business connections of a bot, as strict as Telegram's. */
export function createFakeBusiness(now: () => number): FakeBusiness {
  const connections = new Map<string, FakeConnection>();
  /** When each customer last wrote, by owner and chat. */
  const wroteAt = new Map<string, number>();
  const ownChats = new Set<number>();
  const businessChats = new Set<number>();
  let made = 0;

  const get = (id: unknown): FakeConnection | undefined => connections.get(String(id));

  function disconnect(ownerId: number): FakeConnection {
    const last = [...connections.values()].findLast(({ user, is_enabled }) => user.id === ownerId && is_enabled);
    if (last === undefined) throw new Error("the account is not connected");
    const ended = { ...last, rights: {}, is_enabled: false };
    connections.set(ended.id, ended);
    return ended;
  }

  return {
    get,
    disconnect,
    connect(ownerId, { canReply = true } = {}) {
      if ([...connections.values()].some(({ user, is_enabled }) => user.id === ownerId && is_enabled))
        disconnect(ownerId);
      made += 1;
      const connection: FakeConnection = {
        id: `conn-${made}`,
        user: { id: ownerId, is_bot: false, first_name: "Olga" },
        user_chat_id: ownerId,
        date: 1_934_000_000 + made,
        rights: canReply ? { can_reply: true } : {},
        is_enabled: true,
      };
      connections.set(connection.id, connection);
      return connection;
    },
    delivered(update) {
      const { message, business_message: business } = update as {
        readonly message?: Delivered;
        readonly business_message?: Delivered;
      };
      if (message !== undefined) ownChats.add(message.chat.id);
      if (business === undefined) return;
      businessChats.add(business.chat.id);
      const owner = get(business.business_connection_id)?.user.id;
      if (business.from?.id !== owner) wroteAt.set(`${owner}:${business.chat.id}`, now());
    },
    ownerOf: ({ business_connection_id: id }) => get(id)?.user.id,
    refusalOf(method, body) {
      const { business_connection_id: id } = body;
      const chatId = Number(body["chat_id"]);
      if (method === "deleteBusinessMessages") {
        return get(id)?.is_enabled === true ? undefined : "BUSINESS_CONNECTION_INVALID";
      }
      if (!inChat.test(method)) return undefined;
      if (id === undefined) return businessChats.has(chatId) && !ownChats.has(chatId) ? "chat not found" : undefined;
      const connection = get(id);
      if (connection?.is_enabled !== true) return "BUSINESS_CONNECTION_INVALID";
      if (connection.rights.can_reply !== true) return "BOT_ACCESS_FORBIDDEN";
      if (!businessChats.has(chatId)) return "BUSINESS_PEER_INVALID";
      const at = wroteAt.get(`${connection.user.id}:${chatId}`);
      return at === undefined || now() - at >= windowMs ? "BUSINESS_PEER_USAGE_MISSING" : undefined;
    },
  };
}
