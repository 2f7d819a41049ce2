/** What an operator must know of keys: above all which one a restored root needs. */
import {
  assertNever,
  commandLine,
  count,
  sentence,
  shellWord,
  type Collection,
  type Warning,
} from '../../../core/plugin.js'
import { keyFile, type KeyFault, type Keys } from './slots/keys.js'
import type { Lasting } from './slots/lasting.js'
import type { StoredSlot } from './slots/record.js'

/** Where the own key is, as words for a shell. */
interface Place {
  readonly folder: string
  readonly file: string
}

/** Writes over nothing: a file that is there may be the only good key. A restored root has no folder for it. */
const newKey = ({ folder, file }: Place): string =>
  `(set -C; umask 077; mkdir -p ${folder} && openssl rand -hex 32 > ${file})`

/** What makes a key in place of one that there is none any more. */
const another = ({ kind }: KeyFault, place: Place): string => {
  const { file } = place
  if (kind === 'absent') return `make a new one: ${newKey(place)}`
  if (kind === 'no_file' || kind === 'no_key')
    return `set aside what is there and make a new one: mv -n ${file} ${file}.aside && ${newKey(place)}`
  return 'put a new one in its place'
}

/** What can be pasted, for each fault. */
const mend = (fault: KeyFault, place: Place, isFresh: boolean): string => {
  const { file } = place
  const { kind } = fault
  switch (kind) {
    case 'not_private':
      return `Nobody but its owner may read the key: chmod 600 ${file} and start again.`
    case 'absent':
      return isFresh
        ? 'The daemon makes the first key by itself as soon as its storage takes changes: see the warnings beside this.'
        : `Put the key back as ${file} with mode 0600, or ${another(fault, place)} and start again.`
    case 'no_file':
    case 'no_key':
      return (
        `Put the key back as ${file} with mode 0600. Where there is none any more, ` +
        `${another(fault, place)} and start again.`
      )
    case 'given':
      return (
        'Give 32 bytes in hex or base64 as SERVICE_SECRETS_KEY, or with --secrets-key-file in a file that nobody but ' +
        'its owner may read, and start again.'
      )
    default:
      return assertNever(kind)
  }
}

/** What waits for one key. */
interface Waiting {
  readonly key_id: string
  readonly secrets: number
  /** The id of the first one; undefined where there is none. */
  readonly first: string | undefined
  readonly lasting: number
}

const storeAgain = ({ secrets, first }: Waiting): string[] => {
  if (first === undefined) return []
  const line = `${commandLine('secrets set', first)} --stdin`
  return [secrets === 1 ? `store the secret again: ${line}` : `store each secret again, the first with ${line}`]
}

/** Nothing can be stored again while there is no key in force; one that is must stay, for what is newer needs it. */
const putBack = (place: Place, waiting: Waiting, fault: KeyFault | undefined): string => {
  const { file } = place
  const { key_id, lasting } = waiting
  const instead = [
    ...(fault === undefined ? [] : [`${another(fault, place)} and start again`]),
    ...storeAgain(waiting),
    ...(lasting > 0
      ? [`give reply targets that have headers again, if there are any: ${commandLine('secrets forget-key', key_id)}`]
      : []),
  ]
  const back =
    fault === undefined
      ? 'Another key is in force: leave it where it is. Put the one with this id into a file of its own with mode ' +
        '0600, and start again with that as --secrets-previous-key-file: what it opens is encrypted anew.'
      : `Put the key with this id back as ${file} with mode 0600, or name its file with --secrets-key-file or ` +
        '--secrets-previous-key-file, and start again.'
  return `${back} If it is lost for good, ${instead.join('; ')}`
}

export interface KeyWarningParts {
  readonly keys: Pick<Keys, 'fault' | 'previousFault' | 'find'>
  readonly slots: Pick<Collection<StoredSlot>, 'groups' | 'count' | 'list'>
  readonly lasting: Lasting['collection']
  /** The folder of the state. */
  readonly root: string
  /** Nothing is encrypted: the key was never made. */
  readonly isFresh: () => boolean
}

export const keyWarnings = ({ keys, slots, lasting, root, isFresh }: KeyWarningParts): readonly Warning[] => {
  const folder = `${root}/secrets`
  const place = { folder: shellWord(folder), file: shellWord(`${folder}/${keyFile}`) }
  const { fault } = keys
  const known = [...new Set([...slots.groups('key'), ...lasting.groups('sealed_with')])]
  const missing = known
    .filter((key_id) => keys.find(key_id) === undefined)
    .map((key_id): Warning => {
      const waiting = {
        key_id,
        secrets: slots.count('key', key_id),
        first: slots.list({ index: 'key', group: key_id, limit: 1 })[0]?.slot_id,
        lasting: lasting.count('sealed_with', key_id),
      }
      const lost = [
        ...(waiting.secrets > 0 ? [count(waiting.secrets, 'secret')] : []),
        ...(waiting.lasting > 0 ? [`${count(waiting.lasting, 'lasting key')} for headers of reply targets`] : []),
      ]
      return {
        severity: 'error',
        code: 'secrets_key_missing',
        message: `${lost.join(' and ')} cannot be decrypted: the key ${key_id} is not here.`,
        related_id: key_id,
        action: fault?.kind === 'not_private' ? mend(fault, place, false) : putBack(place, waiting, fault),
      }
    })
  return [
    ...missing,
    ...earlierUnusable(keys.previousFault),
    ...(fault === undefined ? [] : [unusable(fault, mend(fault, place, isFresh()))]),
  ]
}

const earlierUnusable = (previousFault: string | undefined): Warning[] =>
  previousFault === undefined
    ? []
    : [
        {
          severity: 'warning',
          code: 'secrets_previous_key_unusable',
          message: sentence(`The earlier key cannot be read: ${previousFault}`),
          action: 'Correct --secrets-previous-key-file, or leave it out, and start again.',
        },
      ]

const unusable = (fault: KeyFault, action: string): Warning => ({
  severity: 'warning',
  code: 'secrets_key_unusable',
  message: sentence(`No secret can be stored: ${fault.reason}`),
  action,
})
