/** What waits to be said in a channel (stimuli-18). */
import { commandLine, visibleLine, type Clock } from '../../../core/plugin.js'
import type { ReasonSource } from '../../operator/explanations/contract.js'
import type { StimulusStore } from './record/store.js'

/** Stimuli that are told, and characters of each. */
const [most, mostContent] = [5, 200]

export const stimulusReasons = (store: StimulusStore, { now }: Pick<Clock, 'now'>): ReasonSource => ({
  id: 'stimuli',
  of({ kind, id }) {
    if (kind !== 'channel' || store.waiting(id) === 0) return []
    return store.due(id, most).map(({ content, last_error, created_at_ms, available_at_ms }) => {
      const beginning = Array.from(content.slice(0, 2 * mostContent)).slice(0, mostContent)
      const said = visibleLine(JSON.stringify(beginning.join('')))
      return {
        code: 'stimulus',
        text: `${said} waits to be said${last_error === undefined ? '' : `: ${last_error}`}.`,
        since_ms: created_at_ms,
        ...(available_at_ms > now() && { until_ms: available_at_ms }),
        commands: [commandLine('channels stimuli list', id)],
      }
    })
  },
})
