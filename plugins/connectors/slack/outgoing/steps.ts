/** What a delivery to Slack is made of (slack-22 to slack-24). */
import { hash } from 'node:crypto'
import { filesIn, type AttachmentRef } from '../../../media/assets/contract.js'
import type { Envelope } from '../../../execution/deliveries/contract.js'
import { piecesOf } from '../api/mrkdwn.js'

export type Step =
  | { readonly type: 'text'; readonly key: string; readonly text: string }
  | { readonly type: 'file'; readonly key: string; readonly file: AttachmentRef }

const isBlank = (text: string): boolean => text.trim() === ''
const textStep = (key: string, text: string): Step[] => (isBlank(text) ? [] : [{ type: 'text', key, text }])
/** What one message cannot hold follows in messages behind it. */
const fitting = (step: Step): Step[] =>
  step.type === 'file'
    ? [step]
    : piecesOf(step.text).flatMap((piece, at) => textStep(at === 0 ? step.key : `${step.key}:chunk:${at}`, piece))

type Output = Pick<Envelope, 'content' | 'parts' | 'artifacts'>

/** What is said and shown, in its order; blank words are not said. */
const partSteps = ({ content, parts }: Output): Step[] =>
  parts.length === 0
    ? textStep('content', content)
    : parts.flatMap((part, index): Step[] =>
        part.type === 'text'
          ? textStep(`text:${index}`, part.text)
          : [{ type: 'file', key: `attachment:${index}:${part.attachment.id}`, file: part.attachment }],
      )

/** Files that go with it and are not among its parts: behind them, because nobody in a channel sees them otherwise. */
const artifactSteps = ({ parts, artifacts }: Output): Step[] => {
  const among = new Set(filesIn(parts).map(({ id }) => id))
  return artifacts.flatMap((file, index): Step[] =>
    among.has(file.id) ? [] : [{ type: 'file', key: `artifact:${index}:${file.id}`, file }],
  )
}

/**
 * The steps of a delivery. A file makes no message whose thread others could be in: where a file comes first and no
 * thread is given, words come before it, under the key `anchor`.
 */
export const planSteps = (envelope: Output, { isThreaded }: { readonly isThreaded: boolean }): readonly Step[] => {
  const steps = [...partSteps(envelope), ...artifactSteps(envelope)]
  const [first] = steps
  if (isThreaded || first?.type !== 'file') return steps.flatMap(fitting)
  const words = steps.find((step) => step.type === 'text')
  const anchor = textStep('anchor', words?.type === 'text' ? words.text : envelope.content)
  return [...anchor, ...steps.filter((step) => step !== words)].flatMap(fitting)
}

/** The id under which Slack knows a message before it is posted: the same for each repetition. */
export const clientMessageId = (delivery_id: string, step: string): string => {
  const hex = hash('sha256', `slack-delivery:${delivery_id}:${step}`)
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
