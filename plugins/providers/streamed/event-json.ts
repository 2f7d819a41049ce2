/** The JSON of one event, if it is one that is read. */
import { isModest } from '../../../core/plugin.js'
import { isLink, type Link } from './link.js'

/** Code units of one event: more than models say in one answer, also where a server sends all of it at once. */
export const largestEvent = 4 * 1024 * 1024
/** Code units from which an event is looked at before it is read. */
const looked = 2048
/** What one event may hold; an input that is JSON itself has some of it. */
const bounds = { depth: 128, most: 20_000 }

/** `excess`: others would wait while it is read. `garbage`: it is no JSON object. */
export const readEvent = (data: string): Link | 'excess' | 'garbage' => {
  if (data.length > largestEvent || (data.length > looked && !isModest(data, bounds))) return 'excess'
  const value = parsed(data)
  return isLink(value) && !Array.isArray(value) ? value : 'garbage'
}

const parsed = (data: string): unknown => {
  try {
    const value: unknown = JSON.parse(data)
    return value
  } catch {
    return undefined
  }
}
