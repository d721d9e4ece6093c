import type { AdapterModule } from "#channels/contract.ts";
import type { WidgetConfig } from "./config.ts";
import { createLimits, widgetConfig } from "./config.ts";
import { siteRoutes } from "./site/routes.ts";
import { createAddressSlots } from "./sockets/addresses.ts";
import { createSocketBytes } from "./sockets/socket-bytes.ts";
import { openSockets } from "./connection.ts";
import { openExchanges } from "./exchanges.ts";
import { createUploads } from "./files.ts";

/** Shared by all accounts of this process. */
const socketBytes = createSocketBytes();

/** The chat widget on a company's own pages (`widget`), and the hosted chat page (`hosted`). */
const widget: AdapterModule<WidgetConfig> = {
  config: widgetConfig,
  secrets: [],
  create(account, host) {
    const limits = createLimits(account.config, host);
    const slots = createAddressSlots(limits.socketsPerAddress);
    const sockets = openSockets(account, host, limits, slots, socketBytes);
    const exchanges = openExchanges(account, host, limits, slots);
    return {
      capabilities: {
        textMax: null,
        typing: true,
        receipts: true,
        references: true,
        idempotentSend: true,
        fileBytesMax: host.files.bytesMax,
      },
      inbound: {
        kind: "site",
        routes: siteRoutes(account, host),
        socket: sockets.socket,
        posts: [createUploads(account, host, limits), exchanges.post],
      },
      render: (message) => [{ text: message.markdown, payload: null }],
      // The message is in the thread's history already. The signal makes browsers read it there.
      async send(_part, context) {
        host.threads.announce(context.thread);
        return { externalId: context.messageId, state: "sent" };
      },
      // The host signals the change when the history has the new text.
      edit: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      // The same for a reaction.
      react: () => Promise.resolve(),
      async close() {
        await Promise.all([sockets.close(), exchanges.close()]);
      },
    };
  },
};

export default widget;
