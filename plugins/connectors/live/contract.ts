/**
 * What people at a chat platform see and do while a run works: a typing sign, the answer as it is made, and buttons for
 * approvals and questions. Everything but the calls to the platform is done here; a kind of connector contributes these
 * as a `LiveKind`, and asks `LiveReplies` when it delivers, and when a button is pressed. Rules:
 * docs/rules/live.md.
 */
import { definePoint, defineToken, hasMembers, type Point, type Token } from '../../../core/plugin.js'
import type { ConnectorKindName, ConnectorTrouble } from '../registry/contract.js'

/** The chat that an address leads to, and what its connector allows now. Asked at each use and never kept. */
export interface LiveChat {
  /** Name of the connector. */
  readonly connector: string
  /** `stream_replies` of its settings. */
  readonly stream_replies: boolean
  /** `approver_ids` of its settings, as they stand in `actor_id` of its events. */
  readonly approver_ids: readonly string[]
  /** Longest text of one message, in UTF-16 code units, at least 500. */
  readonly most_text: number
  /** The same of a request, where the kind makes that longer while it sends it. `most_text` when absent. */
  readonly most_request?: number
  /** Milliseconds between two calls for a draft, such as 1,000, or 3,000 in a group; never less than 500. */
  readonly edit_ms: number
  /** Milliseconds after which a typing sign is to be shown again; never less than 1,000. Absent: there is none. */
  readonly typing_ms?: number
}

/** One button. */
export interface LiveButton {
  /** Plain text, at most 60 characters. */
  readonly label: string
  /** Comes back with the press, as it is: letters, digits and points, at most `mostToken` of them. */
  readonly token: string
}
/** Longest token of a button, in bytes: those of Telegram are at most 64 with what a kind puts before it. */
export const mostToken = 48

/** A message as it is to be, whole: a kind puts it in place of what it was. */
export interface LiveMessage {
  /** `draft`: the words of a model, shown as a delivery shows them. `request`: plain text, all of it as it stands. */
  readonly purpose: 'draft' | 'request'
  /**
   * Within `most_text`, or `most_request`; never blank. A kind must escape what the platform reads as a mention, a link
   * or a form.
   */
  readonly text: string
  /** At most `mostButtons`; empty: it has none, and those that it had go. */
  readonly buttons: readonly LiveButton[]
  /** True if the platform should offer to answer this message. */
  readonly asks_for_reply?: boolean
}
/** What a message that was sent is to be. */
export interface LiveEdit {
  readonly message_id: string
  readonly message: LiveMessage
}
/** Buttons of one message. */
export const mostButtons = 12

/** How a call to the platform ended. */
export type LiveOutcome =
  | { readonly type: 'done' }
  /** The platform asks for time (429), or did not answer well; `retry_after_ms` holds the whole connector back. */
  | { readonly type: 'later'; readonly retry_after_ms?: number }
  /** A repetition would not mend it, such as a message or chat that is gone. `trouble` goes to the connector. */
  | { readonly type: 'refused'; readonly trouble?: ConnectorTrouble }
/** The same of a message that was sent. `message_id` names it among all messages of its connector: with its chat. */
export type LivePosted =
  | { readonly type: 'done'; readonly message_id: string }
  | Exclude<LiveOutcome, { readonly type: 'done' }>

/**
 * What a kind does at its platform. Calls must not throw, must end soon after the signal aborts, and must not repeat
 * themselves: whoever calls does. `address` is that of a reply handle. One call at a time for an address.
 */
export interface LiveKind {
  /** The `plugin` of the reply handles that it serves, which is the kind of its connectors. */
  readonly plugin: ConnectorKindName
  /** True while there is a connector of this kind: else nothing is looked at. Must be fast. */
  isUsed(): boolean
  /** Undefined if it leads nowhere now, such as when its connector is gone. Must do no I/O. */
  chat(address: string): LiveChat | undefined
  /** Shows the typing sign once. */
  typing?(address: string, signal: AbortSignal): Promise<LiveOutcome>
  /** Takes the typing sign away, where it does not end by itself. */
  still?(address: string, signal: AbortSignal): Promise<LiveOutcome>
  /** Sends a message. */
  post(address: string, message: LiveMessage, signal: AbortSignal): Promise<LivePosted>
  /** Puts a message in place of one. That it says the same already is `done`. */
  edit(address: string, edit: LiveEdit, signal: AbortSignal): Promise<LiveOutcome>
}
/** The kinds that show work as it is done, by the plugin of their handles. */
export const LiveKinds: Point<LiveKind> = definePoint<LiveKind>(
  'live-kinds@1',
  ({ plugin }) => plugin,
  hasMembers('a kind of live replies', {
    plugin: 'id',
    isUsed: 'function',
    chat: 'function',
    post: 'function',
    edit: 'function',
  }),
)

/** Which delivery wants the draft of its run: members of its envelope. */
export interface DraftWish {
  readonly plugin: ConnectorKindName
  readonly delivery_id: string
  readonly run_id?: string | undefined
  readonly address: string
}

/** Somebody at the platform did something with a message of this plugin. */
export interface LiveAct {
  readonly plugin: ConnectorKindName
  readonly connector: string
  /** Who, proven by the platform; as it stands in `actor_id` of the events of this connector. */
  readonly actor_id: string
  /** What this person is called, for the sentence that says who decided; anybody's text. The id, if absent. */
  readonly actor_name?: string | undefined
}
/** A button was pressed. */
export interface LivePress extends LiveAct {
  readonly token: string
}
/** A message was answered by another one. */
export interface LiveReply extends LiveAct {
  /** `message_id` of the message that is answered. */
  readonly message_id: string
  readonly text: string
}

/** What came of it. */
export interface LiveAnswer {
  /**
   * `decided`: this act decided the request. `over`: it was decided before, has expired, or is not known.
   * `not_allowed`: this person may not. `invalid`: the text is no answer to the question. `failed`: nothing was
   * recorded; another try may do it. Only `decided` has changed anything.
   */
  readonly type: 'decided' | 'over' | 'not_allowed' | 'invalid' | 'failed'
  /** A sentence for this person alone, at most 180 characters, plain text. */
  readonly text: string
}

/** What kinds ask while they deliver and take in. */
export interface LiveReplies {
  /**
   * The message that shows the output of this delivery so far: its first step must edit it in place of sending one,
   * with `message_id` of `LivePosted`. From then on nothing but this delivery touches it, and only this delivery is
   * given it, however often it asks and over restarts, until it is settled; if the message is gone, send one.
   * Undefined: there is none. Resolves within seconds; never rejects. Ask before the first step of each attempt, unless
   * that has been done.
   */
  takeDraft(wish: DraftWish): Promise<string | undefined>
  /** Never rejects. Resolves when what was decided is on disk. */
  press(press: LivePress): Promise<LiveAnswer>
  /**
   * Must be asked of each message that answers one of the bot's, before it becomes an event. Undefined: it answers no
   * question of this plugin, and is a message like any other. Else it is none: tell the text to the person. Never
   * rejects.
   */
  reply(reply: LiveReply): Promise<LiveAnswer | undefined>
}
/** What kinds ask while they deliver and take in. Want it, and do without where it is not there. */
export const LiveReplies: Token<LiveReplies> = defineToken<LiveReplies>('live-replies@1')
