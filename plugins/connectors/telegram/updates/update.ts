/** What of an update is read, in whichever way it came (telegram-6, telegram-7). */
import {
  array,
  doc,
  digest,
  integer,
  named,
  nullable,
  open,
  optional,
  string,
  type Infer,
  type JsonObject,
  type StructOf,
} from '../../../../core/plugin.js'

const maybe = <T>(struct: StructOf<T>) => optional(nullable(struct))
/** An id of the platform: whole numbers that a double has exactly. */
const numeric = () => integer()

const Sender = open({ id: numeric(), first_name: maybe(string()), username: maybe(string()) })
const Photo = open({
  file_id: string({ max: 1000 }),
  file_size: maybe(numeric()),
  width: maybe(numeric()),
  height: maybe(numeric()),
})
const Document = open({
  file_id: string({ max: 1000 }),
  file_name: maybe(string()),
  mime_type: maybe(string()),
  file_size: maybe(numeric()),
})
const messageFields = {
  message_thread_id: maybe(numeric()),
  text: maybe(string()),
  caption: maybe(string()),
  photo: maybe(array(Photo, { max: 100 })),
  document: maybe(Document),
  chat: open({ id: numeric() }),
  from: maybe(Sender),
  reply_to_message: maybe(open({ message_id: numeric() })),
}
const Message = open({ message_id: numeric(), ...messageFields })
/** One that a button hangs on may be too old to be told of. */
const Pressed = open({ message_id: maybe(numeric()), ...messageFields })
const Callback = open({
  id: string({ min: 1, max: 200 }),
  data: maybe(string()),
  message: maybe(Pressed),
  from: Sender,
})

/** An update as the platform sends it: what is not named here is not looked at. */
export const TelegramUpdate = named(
  'TelegramUpdate',
  open({
    update_id: maybe(doc(numeric(), 'Names the update among all of its bot; required.')),
    message: maybe(Message),
    edited_message: maybe(Message),
    callback_query: maybe(Callback),
  }),
)
export type TelegramUpdate = Infer<typeof TelegramUpdate>
export type TelegramMessage = Infer<typeof Pressed>
export type TelegramCallback = Infer<typeof Callback>
export type TelegramSender = Infer<typeof Sender>
export type TelegramPhoto = Infer<typeof Photo>

/** Without what is absent or null. */
const given = (fields: Readonly<Record<string, JsonObject[string]>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

const knownMessage = (message: TelegramMessage): JsonObject => {
  const { message_id, message_thread_id, text, caption, photo, document, chat, from } = message
  return given({
    message_id,
    message_thread_id,
    text,
    caption,
    photo: photo?.map(({ file_id, file_size, width, height }) => given({ file_id, file_size, width, height })),
    document: document && knownDocument(document),
    chat: { id: chat.id },
    from: from && { id: from.id },
  })
}
const knownDocument = ({ file_id, file_name, mime_type, file_size }: Infer<typeof Document>): JsonObject =>
  given({ file_id, file_name, mime_type, file_size })

/** The fields of an update that are read, and no others. */
export const knownUpdate = (update: TelegramUpdate): JsonObject => {
  const { update_id, message, edited_message: edited, callback_query: callback } = update
  return given({
    update_id,
    message: message && knownMessage(message),
    edited_message: edited && knownMessage(edited),
    callback_query:
      callback &&
      given({
        id: callback.id,
        data: callback.data,
        message: callback.message && knownMessage(callback.message),
        from: { id: callback.from.id },
      }),
  })
}

/** What the update says, whatever else the platform comes to send with it (telegram-7). */
export const fingerprintOf = (update: TelegramUpdate): string => digest(knownUpdate(update))
