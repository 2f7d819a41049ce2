/** What health checks of third-party plugins return, as it is taken. */
import { fault } from '../../base/assert.js'
import { plainCopy } from '../../base/foreign/plain.js'
import { warningCode, type Warning } from '../../base/health.js'
import { parse } from '../../base/parse.js'
import { array, enums, open, optional, string } from '../../base/schema.js'
import { isThenable, unawaited } from './own-view.js'

const WarningForm = open({
  severity: enums(['info', 'warning', 'error']),
  code: warningCode,
  message: string(),
  related_id: optional(string()),
  action: optional(string()),
})
/** Of one check. */
const mostBytes = 256 * 1024

/** The warnings of a check that no compiler has seen. Throws what is wrong with them. */
export const takenWarnings = (found: unknown): readonly Warning[] => {
  if (isThenable(found)) throw unawaited(found)
  if (!Array.isArray(found))
    throw fault('what it returned must be an array of warnings, an empty one where it has none')
  const parsed = parse(array(WarningForm), plainCopy(found, mostBytes))
  if (parsed.ok)
    return parsed.value.map(({ severity, code, message, related_id, action }) => ({
      severity,
      code,
      message,
      ...(related_id !== undefined && { related_id }),
      ...(action !== undefined && { action }),
    }))
  const [issue] = parsed.issues
  throw fault(`what it returned are no warnings: ${issue?.path || 'it'} ${issue?.rule ?? 'is another thing'}`)
}
