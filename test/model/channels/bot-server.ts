/** A model server whose agents answer by what they are asked alone, so that a killed daemon hears the same again. */
import { calling, saying, startOpenAiServer, type Asked, type Reply } from '../../support/openai-server.js'

const digestOf = (text: string): number => {
  let hash = 2_166_136_261
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619) >>> 0
  // The lowest bits of neighbours are alike.
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d) >>> 0
}

/** What an agent says to a message; undefined for nothing. */
export const answerTo = (name: string, message: string): string | undefined => {
  const digest = digestOf(`${name} ${message}`)
  return digest % 100 < 60 ? `${name} ${digest.toString(36)}` : undefined
}

const wordsOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part: any) => String(part.text ?? '')).join('\n')
      : ''

const replyTo = ({ body, number }: Asked): Reply => {
  const messages: any[] = (body as any).messages
  if (messages.at(-1)?.role !== 'user') return saying('ok')
  const words = wordsOf(messages.findLast(({ role }) => role === 'user')?.content)
  const name = /in which you are "([^"]*)"/u.exec(words)?.[1] ?? ''
  const message = /^\| (.*)$/mu.exec(words.slice(words.lastIndexOf('Respond to this message')))?.[1] ?? ''
  const content = answerTo(name, message)
  if (content === undefined) return saying('Nothing to say.')
  return calling({ id: `call_${number}`, name: 'emit_output', input: JSON.stringify({ content }) })
}

/** `delay` is how many ms an answer takes. */
export const startBotServer = (delay: () => number) =>
  startOpenAiServer(async (asked) => {
    await new Promise((resolve) => setTimeout(resolve, delay()))
    return replyTo(asked)
  })
