/** The file of routes, looked at before a daemon has it. */
import { basename } from 'node:path'
import { checkList, readGivenBytes, type CommandInput } from '../../../../core/plugin.js'
import type { DoctorCheck } from '../../../operator/status/contract.js'
import { routeList } from '../file/route-list.js'
import { readinessOf, type Ready } from './readiness.js'

const mostBytes = 1024 * 1024
const invalid = 'route_invalid'

/** What a route is asked with is not in its file: whether it is there is for the daemon to say. */
const ofCredentials: ReadonlySet<string> = new Set([
  'secret_not_found',
  'secret_file_unreadable',
  'api_key_env_missing',
  'credential_missing',
  'credential_unavailable',
])

const correct = 'Correct the file: until then a daemon leaves out what is wrong.'

/** A daemon calls it by the name of the file that it reads. */
const inFile = (file: string, action: string): string => action.replaceAll('config/routes.toml', file)

const routeCheck = (file: string, { route_id, state, code, message, action = correct }: Ready): DoctorCheck => {
  const about = `route ${route_id}`
  if (state === 'ok') return { about, ok: true, message: 'is one that a daemon takes' }
  return ofCredentials.has(code)
    ? { about, ok: true, message: 'is one that a daemon takes; its key is not here, and was not looked for' }
    : { about, ok: false, code, message, action: code === invalid ? correct : inFile(file, action) }
}

/** The first fault of the text with its place; undefined where a daemon takes all of it. */
export const firstFault = (text: string): string | undefined => {
  const [fault] = checkList(routeList(), text)
  if (fault === undefined) return undefined
  const { place, line, rule } = fault
  const at = line === undefined || rule.includes(`line ${line}`) ? '' : `line ${line}: `
  return `${at}${place} ${rule}`.replaceAll(/\s+/gu, ' ').trim()
}

/** Every fault with its place; nothing is written, and no model is asked. */
export const checkFile = async (input: CommandInput, file: string): Promise<DoctorCheck[]> => {
  const text = readGivenBytes(file, mostBytes).toString('utf8')
  const faults = checkList(routeList(), text)
  const faulty = new Set(faults.map(({ name }) => name))
  const told = faults.map(({ place, line, rule }): DoctorCheck => {
    const at = line === undefined ? '' : `:${line}`
    return {
      about: `${basename(file)}${at}`,
      ok: false,
      code: invalid,
      message: `${place} ${rule}`.trim(),
      action: correct,
    }
  })
  if (faulty.has('')) return told
  const read = await input.scratch({ routes: text }, ({ client }) => readinessOf(client))
  return [
    ...told,
    ...read.filter(({ route_id }) => !faulty.has(route_id)).map((ready) => routeCheck(basename(file), ready)),
  ]
}
