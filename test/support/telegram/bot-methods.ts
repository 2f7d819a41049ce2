/** What the methods of a Bot API do, as far as bots rely on it. */
import { createClock } from '../../../core/base/clock.js'
import type { Answered, StoredFile } from './bot-api.js'
import type { BotCall } from './bot-call.js'

export type Fields = Record<string, any>

interface Poll {
  end(answer: Answered): void
}

const clock = createClock()
const ok = (result: unknown): Answered => ({ status: 200, body: { ok: true, result } })
const refused = (status: number, description: string): Answered => ({
  status,
  body: { ok: false, error_code: status, description },
})
const bad = (what: string): Answered => refused(400, `Bad Request: ${what}`)
const conflict = (what: string): Answered => refused(409, `Conflict: ${what}`)

const kindOf = (update: Fields): string => Object.keys(update).find((key) => key !== 'update_id') ?? ''
const me = { id: 42, is_bot: true, first_name: 'House', username: 'house_bot' }
const mostText = 4096

/** Updates that wait, and the one who polls for them. */
const createQueue = () => {
  let waiting: Fields[] = []
  let next = 1000
  let poll: Poll | undefined
  let webhook: { readonly url: string; readonly secret: string } | undefined
  let allowed: readonly string[] = []
  const wanted = (): Fields[] => waiting.filter((update) => allowed.length === 0 || allowed.includes(kindOf(update)))
  const batch = (limit: number): Fields[] => wanted().slice(0, limit)
  const deliver = async (update: Fields): Promise<void> => {
    if (webhook === undefined) return
    const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': webhook.secret }
    const sent = await fetch(webhook.url, { method: 'POST', headers, body: JSON.stringify(update) }).catch(() => null)
    if (sent?.ok === true) waiting = waiting.filter((one) => one !== update)
  }
  return {
    waiting: () => waiting.length,
    push(update: Fields): number {
      const { update_id: id = next } = update
      next = Math.max(next, id) + 1
      const whole = { update_id: id, ...update }
      waiting.push(whole)
      if (webhook !== undefined) void deliver(whole)
      else if (wanted().length > 0) poll?.end(ok(batch(100)))
      return id
    },
    hook(url: string, secret: string): void {
      webhook = url === '' ? undefined : { url, secret }
    },
    hooked: () => webhook?.url ?? '',
    close: () => poll?.end(conflict('closing')),
    async updates({ offset = 0, limit = 100, timeout = 0, ...rest }: Fields, gone: AbortSignal): Promise<Answered> {
      if (webhook !== undefined)
        return conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook")
      poll?.end(conflict('terminated by other getUpdates request; make sure that only one bot instance is running'))
      if (rest['allowed_updates'] !== undefined) allowed = rest['allowed_updates']
      if (offset > 0) waiting = waiting.filter(({ update_id: id }) => id >= offset)
      if (offset < 0) waiting = waiting.slice(offset)
      if (batch(limit).length > 0 || timeout === 0) return ok(batch(limit))
      return await new Promise<Answered>((resolve) => {
        const mine: Poll = {
          end(answer) {
            if (poll === mine) poll = undefined
            cancel()
            resolve(answer)
          },
        }
        const cancel = clock.after(timeout * 1000, () => mine.end(ok([])))
        gone.addEventListener('abort', () => mine.end(ok([])), { once: true })
        poll = mine
      })
    },
  }
}

export interface MethodParts {
  readonly tokens: ReadonlySet<string>
  readonly files: ReadonlyMap<string, StoredFile>
}

export const createMethods = ({ tokens, files }: MethodParts) => {
  const queue = createQueue()
  let message = 0
  const messages = new Map<number, Fields>()
  const sent = ({ fields, files: given }: BotCall, more: Fields): Answered => {
    const { chat_id: chat, message_thread_id: thread } = fields
    if (chat === undefined || chat === '') return bad('chat_id is empty')
    if (Number(chat) === 404) return bad('chat not found')
    if (Number(thread) === 404) return bad('message thread not found')
    message += 1
    const one = {
      message_id: message,
      date: Math.floor(clock.now() / 1000),
      chat: { id: Number(chat), type: 'private', first_name: 'Ada' },
      from: me,
      ...(Object.keys(given).length > 0 && { document: { file_id: 'sent', file_unique_id: 's', file_size: 1 } }),
      ...more,
    }
    messages.set(message, one)
    return ok(one)
  }
  const textOf = ({ fields }: BotCall): string | undefined => {
    const text = String(fields['text'] ?? '')
    return text.trim() === '' || Array.from(text).length > mostText ? undefined : text
  }
  /** A file is sent under its own name, or under one that the field refers to, or was sent before. */
  const media = (part: string) => (call: BotCall) => {
    const given = call.fields[part]
    const name = typeof given === 'string' && given.startsWith('attach://') ? given.slice(9) : part
    if (call.files[name] === undefined && !files.has(String(given))) return bad(`there is no ${part} in the request`)
    return sent(call, {})
  }
  const methods: Record<string, (call: BotCall, gone: AbortSignal) => Answered | Promise<Answered>> = {
    getMe: () => ok(me),
    getUpdates: ({ fields }, gone) => queue.updates(fields, gone),
    setWebhook({ fields }) {
      queue.hook(String(fields['url'] ?? ''), String(fields['secret_token'] ?? ''))
      return ok(true)
    },
    deleteWebhook() {
      queue.hook('', '')
      return ok(true)
    },
    getWebhookInfo: () => ok({ url: queue.hooked(), pending_update_count: queue.waiting() }),
    setMyCommands: () => ok(true),
    getFile({ fields }) {
      const file = files.get(String(fields['file_id']))
      if (file === undefined) return bad('wrong file_id or the file is temporarily unavailable')
      const size = file.size ?? file.bytes.length
      return ok({ file_id: fields['file_id'], file_unique_id: 'u', file_size: size, file_path: file.path })
    },
    sendMessage(call) {
      const text = textOf(call)
      if (text === undefined) return bad(call.fields['text'] ? 'message is too long' : 'message text is empty')
      return sent(call, { text, reply_markup: call.fields['reply_markup'] ?? undefined })
    },
    editMessageText(call) {
      const { message_id: id, reply_markup: buttons } = call.fields
      const known = messages.get(Number(id))
      const text = textOf(call)
      if (known === undefined) return bad('message to edit not found')
      if (text === undefined) return bad('message text is empty')
      if (known['text'] === text && JSON.stringify(known['reply_markup']) === JSON.stringify(buttons ?? undefined))
        return bad('message is not modified: specified new message content and reply markup are exactly the same')
      messages.set(Number(id), { ...known, text, reply_markup: buttons ?? undefined })
      return ok(messages.get(Number(id)))
    },
    sendChatAction: () => ok(true),
    sendPhoto: media('photo'),
    sendAudio: media('audio'),
    sendDocument: media('document'),
    answerCallbackQuery: ({ fields }) =>
      typeof fields['callback_query_id'] === 'string' || typeof fields['callback_query_id'] === 'number'
        ? ok(true)
        : bad('query is too old and response timeout expired or query ID is invalid'),
  }
  const named = new Map(Object.entries(methods).map(([name, method]) => [name.toLowerCase(), method]))
  return {
    push: queue.push,
    waiting: queue.waiting,
    close: queue.close,
    async call(call: BotCall, gone: AbortSignal): Promise<Answered> {
      if (!tokens.has(call.token)) return refused(401, 'Unauthorized')
      return (await named.get(call.method.toLowerCase())?.(call, gone)) ?? refused(404, 'Not Found: method not found')
    },
    download({ token, path }: BotCall): Uint8Array | undefined {
      if (!tokens.has(token)) return undefined
      return [...files.values()].find((file) => decodeURIComponent(path).endsWith(`/${file.path}`))?.bytes
    },
  }
}
