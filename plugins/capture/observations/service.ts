/** Sources and observations as other plugins see them. */
import type { Clock, Log } from '../../../core/plugin.js'
import type { Observations, ObservationSources } from './contract.js'
import { observationErrors } from './record/errors.js'
import type { Audit } from './record/audit.js'
import type { ObservationStore } from './record/store.js'
import type { AuditDraft } from './record/structs.js'
import type { SourceChanges } from './sources/change.js'

/** Refusals of one place that are recorded in a minute; the others are counted alone. */
const mostRefusals = 60
const minuteMs = 60_000

/** Places that refuse are few: sources that are there, and one for all strangers. */
export const createRefusals = ({
  store: { state },
  audit,
  clock,
  log,
}: {
  readonly store: Pick<ObservationStore, 'state'>
  readonly audit: Audit
  readonly clock: Clock
  readonly log: Log
}): ObservationSources['noteRefusal'] => {
  let since = -Infinity
  let counts = new Map<string, number>()
  return async (place: string, event: AuditDraft) => {
    if (clock.elapsed() >= since + minuteMs) [since, counts] = [clock.elapsed(), new Map()]
    const count = (counts.get(place) ?? 0) + 1
    counts.set(place, count)
    if (count > mostRefusals) return
    await state
      .commit((tx) => audit.note(tx, event))
      .catch((error: unknown) => log.warn('a refusal could not be recorded', { error }))
  }
}

export const createSources = (
  { sources }: ObservationStore,
  {
    changes,
    audit,
    noteRefusal,
  }: Pick<ObservationSources, 'noteRefusal'> & {
    readonly changes: SourceChanges
    readonly audit: Audit
  },
): ObservationSources => ({
  find: (source_id) => sources.find(source_id)?.view,
  ownerOf: (source_id) => sources.find(source_id)?.owner,
  keep: (tx, draft, owner) => changes.put(tx, draft, owner).view,
  setStatus: changes.setStatus,
  note: audit.note,
  noteRefusal,
})

export const createObservations = ({ observations, getObservation }: ObservationStore): Observations => ({
  find: (observation_id) => observations.find(observation_id)?.view,
  getActive(observation_id) {
    const { view } = getObservation(observation_id)
    if (view.retention_state === 'active') return view
    throw observationErrors.observation_purged({ details: { observation_id } })
  },
})
