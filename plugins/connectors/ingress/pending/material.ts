/** What a run is told of an event and its files (ingress-15). */
import { visibleLine } from '../../../../core/plugin.js'
import type { InputItem, Submission } from '../../../execution/runs/contract.js'
import { receiptScope } from '../event/known.js'
import type { PendingEvent, PendingFile } from './store.js'

const mostCause = 200

const itemOf = ({ stored, missing }: PendingFile): InputItem =>
  stored === undefined
    ? { type: 'text', text: `[A file of this message is not here: ${cause(missing)}.]` }
    : { type: 'asset_reference', ...stored }
const cause = (text = 'nobody fetched it'): string => visibleLine(text.slice(0, mostCause)).replace(/[.\]]+$/u, '')

/** The text, then its files, each that is missing with a note in its place. */
export const submissionOfPending = (event: PendingEvent): Submission => {
  const { content, input_items = [], attachments: _, ...rest } = event.input
  const text: InputItem[] = content.trim() === '' ? [] : [{ type: 'text', text: content }]
  const receipt = { scope: receiptScope, key: event.id, digest: event.fingerprint }
  return {
    session_id: event.session_id,
    input: { ...rest, content: '', input_items: [...text, ...input_items, ...event.files.map(itemOf)] },
    ...(event.ingress !== undefined && { origin: { ingress: event.ingress } }),
    ...(event.keyed && { receipt }),
  }
}
