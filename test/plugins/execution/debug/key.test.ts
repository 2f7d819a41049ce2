import test from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openText, sealText } from '../../../../core/base/text/sealing.js'
import { readKey } from '../../../../plugins/execution/debug/key.js'
import { tempRoot } from '../../../support/notes.js'

const key = Buffer.alloc(32, 7)
const sealing = { key, nonce: '00'.repeat(12), about: 'r1/0001-model' }
const text = Buffer.from('what was said')
const config: any = { debug_capture_key: undefined, debug_capture_key_file: undefined }
const typeOf = (more: object): string => readKey({ ...config, ...more }, () => undefined).type

test('a text opens with its key, in its own place, and only whole', (t) => {
  const sealed = sealText(text, sealing)
  t.deepEqual(Buffer.from(openText(sealed, sealing) ?? []), text)
  t.is(openText(sealed, { ...sealing, about: 'r1/0002-model' }), undefined)
  t.is(openText(sealed, { ...sealing, key: Buffer.alloc(32, 8) }), undefined)
  for (let at = 0; at < sealed.length; at += 1)
    t.is(openText(Buffer.from(sealed).fill((sealed[at] ?? 0) ^ 1, at, at + 1), sealing), undefined, `byte ${at}`)
  for (let length = 0; length < sealed.length; length += 1)
    t.is(openText(sealed.subarray(0, length), sealing), undefined)
})

test('debug-10: a key is 32 bytes in hex or base64, from the setting or from its file, and is guarded', (t) => {
  const guarded: string[] = []
  const file = join(tempRoot(t), 'key')
  writeFileSync(file, `${key.toString('hex')}\n`)
  const ids = [
    { debug_capture_key: key.toString('base64') },
    { debug_capture_key: ` ${key.toString('hex').toUpperCase()} ` },
    { debug_capture_key_file: file },
  ].map((more) => {
    const setup = readKey({ ...config, ...more }, (value) => guarded.push(value))
    return setup.type === 'key' ? setup.id : setup.type
  })
  t.is(new Set(ids).size, 1)
  t.regex(ids[0] ?? '', /^[0-9a-f]{16}$/u)
  t.is(guarded.length, 3)
  t.is(typeOf({}), 'none')
  t.is(typeOf({ debug_capture_key: ' ', debug_capture_key_file: '' }), 'none')
  for (const debug_capture_key of [
    'short',
    'a passphrase that is long enough to be one',
    key.toString('hex').slice(2),
    `${key.toString('hex')}00`,
  ])
    t.is(typeOf({ debug_capture_key }), 'unusable')
  t.is(typeOf({ debug_capture_key_file: join(file, 'gone') }), 'unusable')
})
