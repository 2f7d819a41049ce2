/** The messages that one output becomes, each a step that is done once (telegram-16). */
import type { AttachmentRef } from '../../../media/assets/contract.js'
import type { Envelope } from '../../../execution/deliveries/contract.js'

export type Step =
  | { readonly key: string; readonly type: 'text'; readonly text: string }
  | { readonly key: string; readonly type: 'file'; readonly file: AttachmentRef }

/** Unicode scalars of one message. */
export const mostText = 4096

/** Pieces of at most `most` scalars; half a sign becomes the sign for one that is none. */
export const chunksOf = (text: string, most = mostText): string[] => {
  const signs = Array.from(text.replaceAll(/\p{Cs}/gu, '\uFFFD'))
  const chunks: string[] = []
  for (let at = 0; at < signs.length; at += most) chunks.push(signs.slice(at, at + most).join(''))
  return chunks
}

/** The platform refuses what is blank. */
const textSteps = (key: string, text: string): Step[] =>
  chunksOf(text).flatMap((chunk, at) =>
    chunk.trim() === '' ? [] : [{ key: `${key}:chunk:${at}`, type: 'text' as const, text: chunk }],
  )
const fileStep = (key: string, file: AttachmentRef): Step => ({ key: `${key}:${file.id}`, type: 'file', file })

/** Files of an output that are in none of its parts follow behind them. */
export const stepsOf = ({ content, parts, artifacts }: Pick<Envelope, 'content' | 'parts' | 'artifacts'>): Step[] => {
  const said =
    parts.length === 0
      ? textSteps('content', content)
      : parts.flatMap((part, at) =>
          part.type === 'text' ? textSteps(`text:${at}`, part.text) : [fileStep(`attachment:${at}`, part.attachment)],
        )
  const named = new Set(said.flatMap((step) => (step.type === 'file' ? [step.file.id] : [])))
  const others = artifacts.filter(({ id }) => !named.has(id))
  return [...said, ...others.map((file, at) => fileStep(`attachment:${parts.length + at}`, file))]
}

/** The method that sends a file, and the name of its part. */
export const mediaOf = (media_type: string): { readonly method: string; readonly part: string } => {
  if (media_type === 'image/png' || media_type === 'image/jpeg') return { method: 'sendPhoto', part: 'photo' }
  if (media_type.startsWith('audio/')) return { method: 'sendAudio', part: 'audio' }
  return { method: 'sendDocument', part: 'document' }
}
