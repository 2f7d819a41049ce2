import { chmod, mkdir, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { createLog } from '../../../../core/base/text/log.js'
import { redactSecrets } from '../../../../core/base/text/shape/redact.js'
import { createSecrets } from '../../../../core/base/text/secrets.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { unwritten } from '../../../../core/state/storage-errors.js'
import { freshRoot } from '../../../support/daemon.js'

const open = async (format: 'json' | 'pretty') => {
  const root = await freshRoot()
  const secrets = createSecrets({ disk: createDisk(), root, unwritten })
  const lines: string[] = []
  return { root, secrets, lines, log: createLog({ level: 'info', format, secrets, write: (line) => lines.push(line) }) }
}

test('runtime-23: a line is one JSON object with level, time, fact and details', async (t) => {
  const { log, lines } = await open('json')
  log.info('ready', { url: 'http://x' })
  log.debug('not at this level')
  t.is(lines.length, 1)
  t.like(JSON.parse(lines.join('')), { level: 'info', msg: 'ready', url: 'http://x' })
})

test('a pretty line is readable and has the stack of an error below', async (t) => {
  const { log, lines } = await open('pretty')
  log.warn('slow', { ms: 3 })
  log.error('broken', { error: new TypeError('of glass') })
  t.regex(lines[0] ?? '', /^\d\d:\d\d:\d\d\.\d{3} warn {2}slow ms=3\n$/u)
  t.regex(lines[1] ?? '', /error broken\n {2}TypeError: of glass\n {6}at /u)
})

test('the message of an error cannot begin a line that looks like one of ours', async (t) => {
  const { log, lines } = await open('pretty')
  log.error('broken', { error: new Error('of others\n12:00:00.000 info  all is well') })
  for (const line of lines.join('').trimEnd().split('\n').slice(1)) t.regex(line, /^ {2}/u)
})

test('runtime-23: a known secret is never printed: not in the fact, a detail, an error or escaped in JSON', async (t) => {
  const secret = 'quoted"secret\\value'
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines, secrets } = await open(format)
    secrets.guard(secret)
    log.error(`fact ${secret}`, { deep: { list: [secret] }, error: new TypeError(`message ${secret}`) })
    const text = lines.join('')
    t.false(text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)), text)
    t.true(text.includes('[redacted]'))
  }
})

test('secrets-25: what was thrown with a secret in disguise is logged without it, as the JSON or the line that it is', async (t) => {
  const secret = 'Rdy-9xPlum_77"Kettle'
  for (const format of ['json', 'pretty'] as const)
    for (const form of [
      'Rdy%2D9xPlum_77%22Kettle',
      'Rdy-9xPlum_77&quot;Kettle',
      'Rdy-9x\u001b(B\u200bPlum_77"Kettle',
      'Rdy-9xz\bPlum_77"Kettle',
    ]) {
      const { log, lines, secrets } = await open(format)
      secrets.guard(secret)
      log.error('failed', { error: new Error(`amid "a\\d" ${form} \u001b[1m`), why: form })
      const [line = ''] = lines
      t.false(/Rdy|Plum|Kettle/u.test(line), line)
      if (format === 'json') t.like(JSON.parse(line), { why: '[redacted]', error: { type: 'Error' } })
      t.true(
        line.includes(
          format === 'json' ? 'amid \\"a\\\\d\\" [redacted] \\u001b[1m' : 'amid "a\\d" [redacted] \\u001b[1m',
        ),
        line,
      )
    }
})

test('runtime-24: what steers a terminal is shown, and neither a fact nor a detail can begin a line that looks like one of ours', async (t) => {
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = await open(format)
    log.warn('odd\r\n12:00:00.000 info  fake', {
      name: 'a\u001b[2J\u202eb\n12:00:00.000 info  fake',
      'k\n12:00:00.000 info  fake': 1,
      error: 'c\nd',
    })
    t.is(lines.join('').trimEnd().split('\n').length, 1, format)
    // oxlint-disable-next-line no-control-regex
    t.notRegex(lines.join(''), /[\u001b\u202e]/u)
  }
})

test('what a library hangs on its errors is not printed', async (t) => {
  const { log, lines } = await open('json')
  log.error('call failed', {
    error: Object.assign(new TypeError('refused'), { config: { headers: { authorization: 'Bearer abc' } } }),
  })
  t.notRegex(lines.join(''), /Bearer/u)
})

test('runtime-25: a secret is read from its file, trimmed and guarded, unless others may read it', async (t) => {
  const { root, secrets } = await open('json')
  await mkdir(path.join(root, 'secrets'))
  const file = path.join(root, 'secrets', 'model-key')
  await writeFile(file, 'from-the-file\n', { mode: 0o600 })
  t.is(secrets.find('model-key'), 'from-the-file')
  t.is(secrets.redact('key=from-the-file.'), 'key=[redacted].')
  await chmod(file, 0o640)
  t.is(secrets.find('model-key'), undefined)
  t.is(secrets.find('absent'), undefined)
  t.is(secrets.find('../root.json'), undefined)
})

test('runtime-25: no more of the file of a secret is read than a secret may have', async (t) => {
  const { root, secrets } = await open('json')
  await mkdir(path.join(root, 'secrets'))
  const file = path.join(root, 'secrets', 'long')
  await writeFile(file, 'x'.repeat(64 * 1024), { mode: 0o600 })
  t.is(secrets.find('long')?.length, 64 * 1024)
  for (const bytes of [64 * 1024 + 1, 20_000_000_000]) {
    await truncate(file, bytes)
    t.is(secrets.find('long'), undefined)
    t.is(secrets.faultOf('long'), 'too_long')
  }
})

test('secrets-1: a short-lived token is redacted by its shape alone, and a value that was let go is not', async (t) => {
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines, secrets } = await open(format)
    const token = `hft_${'aB-_09'.repeat(8)}`
    const letGo = [secrets.guard('a value of note'), secrets.guard('a value of note')]
    log.info(`given ${token}`, { note: 'a value of note', url: 'x?y=a%20value%20of%20note' })
    letGo[0]?.()
    log.info('a value of note')
    letGo[1]?.()
    log.info('a value of note')
    t.false(lines.join('').includes('aB-_09'))
    t.deepEqual(
      lines.map((line) => line.includes('a value of note') || line.includes('a%20value')),
      [false, false, true],
    )
    t.is(redactSecrets(`token ${token}.`), 'token <redacted>.')
  }
})

test('runtime-23: a known value goes also in hex, in base64 and as it stands in a URL', async (t) => {
  const { secrets } = await open('json')
  const value = 'pa$$ word/with+signs?'
  secrets.guard(value)
  const bytes = Buffer.from(value)
  for (const form of [
    encodeURIComponent(value),
    ...(['hex', 'base64', 'base64url'] as const).map((as) => bytes.toString(as)),
  ])
    t.regex(secrets.redact(`x ${form} y`), /^x \[redacted\]=* y$/u)
})

test('runtime-23: a known value goes also in base64 of a longer text, wherever it stands in it', async (t) => {
  const { secrets } = await open('json')
  const values = ['pa$$ word/with+signs?', 'pa$$ word/with+signs', 'pa$$ word/with+sign']
  const undo = values.map(secrets.guard)
  const written = values.flatMap((value) => (['base64', 'base64url'] as const).map((as) => [value, as] as const))
  for (const [value, as] of written)
    for (const before of ['', 'a', 'a:', 'abc', 'user:'])
      for (const behind of ['', 'z', 'zz', ':zz']) {
        const text = Buffer.from(`${before}${value}${behind}`).toString(as)
        const shown = secrets.redact(text)
        t.regex(shown, /\[redacted\]/u, `${before} ${behind}`)
        t.true(shown.replace('[redacted]', '').length < 16, shown)
      }
  undo.forEach((letGo) => letGo())
  t.is(secrets.redact(Buffer.from(`a${values[0]}`).toString('base64')), Buffer.from(`a${values[0]}`).toString('base64'))
})

const refusing = (): never => {
  throw new Error('looked at')
}

test('runtime-19: whatever was thrown is told in a line, also what cannot be made text', async (t) => {
  const circular = new Error('circular')
  const things = [
    Object.create(null),
    new Proxy(new Error('trapped'), new Proxy({}, { get: () => refusing })),
    Object.defineProperty(new Error(), 'message', { get: refusing }),
    Object.defineProperty(new Error('named'), 'name', { value: {} }),
    Object.assign(new Error('stacked'), { stack: 7 }),
    Object.assign(circular, { cause: circular }),
    Symbol('sign'),
    undefined,
  ]
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = await open(format)
    for (const error of things) t.notThrows(() => log.error('broken', { error }))
    t.is(lines.length, things.length)
    t.true(lines.every((line) => line.includes('broken') && line.length < 32 * 1024))
  }
})

test('runtime-24: an error in a line is cut visibly, keeps its places, and shows no half of a secret', async (t) => {
  const secret = 'a-value-of-note-that-nobody-sees'
  const long = (name: string) => new Error(`${'h'.repeat(3060)} ${secret} ${name} ${'h\n'.repeat(5_000_000)}`)
  const error = Object.assign(long('outer'), { cause: Object.assign(long('inner'), { cause: long('last') }) })
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines, secrets } = await open(format)
    secrets.guard(secret)
    log.error('broken', { error })
    log.error('broken', { error: `${'h'.repeat(3060)} ${secret} ${'h'.repeat(50_000_000)}` })
    for (const line of lines) {
      t.true(line.length < 20 * 1024, `${line.length}`)
      t.regex(line, /… \(cut, of \d+ characters\)/u)
      t.notRegex(line, /a-value/u)
    }
    t.regex(lines[0] ?? '', /at long \(.*log\.test/u)
  }
})
