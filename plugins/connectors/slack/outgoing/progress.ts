/** What a delivery has done, kept from step to step: never an address that files are sent to (slack-30). */
import {
  boolean,
  object,
  optional,
  parse,
  record,
  string,
  type Infer,
  type JsonObject,
} from '../../../../core/plugin.js'
import type { DeliveryProgress } from '../../registry/contract.js'

const Progress = object({
  /** The thread that its first message began. */
  thread_ts: optional(string()),
  /** `client_msg_id` stands there before a message is posted, `ts` behind it; it takes the place of `replaces`. */
  messages: record(object({ ts: optional(string()), client_msg_id: optional(string()), replaces: optional(string()) })),
  uploads: record(
    object({ file_id: optional(string()), uploaded: boolean(), completion_requested: boolean(), completed: boolean() }),
  ),
})
type Stored = Infer<typeof Progress>
export type Upload = Stored['uploads'][string]
export type Message = Stored['messages'][string]

export interface Progress {
  readonly thread_ts: string | undefined
  message(step: string): Message
  upload(step: string): Upload
  /** Each resolves when it is on disk. */
  setMessage(step: string, message: Message): Promise<void>
  setUpload(step: string, change: Partial<Upload>): Promise<void>
}

const untouched: Upload = { uploaded: false, completion_requested: false, completed: false }

const without = (value: Stored): JsonObject => JSON.parse(JSON.stringify(value))

/** Undefined if what was kept cannot be read. */
export const openProgress = (kept: DeliveryProgress, delivery_id: string): Progress | undefined => {
  const read = parse(Progress, kept.read(delivery_id) ?? { messages: {}, uploads: {} })
  if (!read.ok) return undefined
  let now = read.value
  const write = (next: Stored): Promise<void> => {
    now = next
    return kept.write(delivery_id, without(next))
  }
  return {
    get thread_ts() {
      return now.thread_ts
    },
    message: (step) => now.messages[step] ?? {},
    upload: (step) => now.uploads[step] ?? untouched,
    setMessage: (step, message) =>
      write({
        ...now,
        messages: { ...now.messages, [step]: message },
        ...(message.ts !== undefined && { thread_ts: now.thread_ts ?? message.ts }),
      }),
    setUpload: (step, change) =>
      write({ ...now, uploads: { ...now.uploads, [step]: { ...(now.uploads[step] ?? untouched), ...change } } }),
  }
}
