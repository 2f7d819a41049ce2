/** Observations that a schedule gives to its runs. */
import { fault, parse, type JsonObject } from '../../../../core/plugin.js'
import { scheduleErrors, type SchedulePayload } from '../../../execution/schedules/contract.js'
import { materialize, type MaterializationParts } from './materialize.js'
import { MaterializationRequest } from './request.js'

const refused = (path: string, rule: string): Error => {
  const field = ['observation_materialization', path].filter((part) => part !== '').join('.')
  return scheduleErrors.invalid_schedule({ details: { field, rule }, errors: [{ path: `body.${field}`, rule }] })
}

const read = (payload: JsonObject): MaterializationRequest => {
  const parsed = parse(MaterializationRequest, payload)
  if (parsed.ok) return parsed.value
  const [{ path, rule } = { path: '', rule: 'is not valid' }] = parsed.issues
  throw refused(path, rule)
}

export const materializationPayload = (parts: MaterializationParts): SchedulePayload => ({
  kind: 'observation_materialization',
  check(payload, { target_session_id }) {
    const wish = read(payload)
    if (wish.target_session_id !== target_session_id)
      throw refused('target_session_id', 'must be the target session of the schedule')
    return wish
  },
  async dispatch(payload, { receipt }) {
    const parsed = parse(MaterializationRequest, payload)
    if (!parsed.ok) throw fault('a payload was kept that was never checked')
    return materialize(parts, parsed.value, { kind: 'scheduled_observation_materialization', receipt })
  },
})
