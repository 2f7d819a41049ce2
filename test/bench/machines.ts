/** Machines that capture: agents as they are, each in a process of its own, and pictures of a screen for them to take. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { main } from './bench.js'

const [width, height] = [1920, 1080]
/** Of a PNG: its signature and the chunk with its size. */
const headBytes = 33

/** The same numbers each time: what is measured is not to depend on chance. */
const numbers = (): (() => number) => {
  let state = 1
  return () => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff) >>> 8
}

/** A screen with a picture on a quarter of it, which does not compress, and plain windows elsewhere. */
const screen = (): Promise<Buffer> => {
  const next = numbers()
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3
      const isPicture = x >= width / 2 && y >= height / 2
      for (let of = 0; of < 3; of += 1)
        pixels[at + of] = isPicture ? next() & 255 : (x >> 6) * 5 + (y >> 5) * 3 + of * 40
    }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer()
}

/** A comment in a PNG. */
const comment = (text: string): Buffer => {
  const body = Buffer.from(`tEXtComment\0${text}`, 'latin1')
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(body.length - 4)
  crc.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, crc])
}

/** Takes the next picture: the same screen with another comment, so that no two are the same file. */
const script = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
read -r n < next
echo $((n + 1)) > next
cat ../head "../comments/$n" ../tail
`

export interface Screen {
  readonly folder: string
  /** Bytes of one picture. */
  readonly bytes: number
}

/** Writes a screen that can be taken so often. */
export const drawScreen = async (folder: string, times: number): Promise<Screen> => {
  const picture = await screen()
  mkdirSync(join(folder, 'comments'))
  writeFileSync(join(folder, 'head'), picture.subarray(0, headBytes))
  writeFileSync(join(folder, 'tail'), picture.subarray(headBytes))
  for (let n = 0; n < times; n += 1) writeFileSync(join(folder, 'comments', String(n)), comment(String(n)))
  return { folder, bytes: picture.length }
}

export interface Wish {
  /** Names the machines; no two wishes have the same. */
  readonly batch: string
  readonly machines: number
  readonly interval_ms: number
  /** The first picture that is taken, and how many each machine may take. */
  readonly first: number
  readonly each: number
}

const provision = async (url: string, { batch, machines, interval_ms }: Wish): Promise<readonly Agent[]> => {
  const answer = await fetch(`${url}/v1/capture-agent-provisions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      batch_id: batch,
      daemon_base_url: url,
      interval_ms,
      agents: Array.from({ length: machines }, (_, n) => ({ machine_id: `${batch}-${n}` })),
    }),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { agents: Agent[] }).agents
}
interface Agent {
  readonly machine_id: string
  readonly config_toml: string
}

/** Starts them; what ends them all. */
export const startMachines = async (url: string, { folder }: Screen, wish: Wish): Promise<() => Promise<void>> => {
  const children = (await provision(url, wish)).map(({ machine_id, config_toml }, at): ChildProcess => {
    const own = join(folder, machine_id)
    mkdirSync(own)
    const [config, command] = [join(own, 'agent.toml'), join(own, 'take.sh')]
    writeFileSync(config, config_toml, { mode: 0o600 })
    writeFileSync(command, script, { mode: 0o700 })
    writeFileSync(join(own, 'next'), `${wish.first + at * wish.each}\n`)
    const args = ['capture', '--config', config, '--spool', join(own, 'spool'), '--command', command]
    return spawn(process.execPath, [main, ...args], { stdio: 'ignore' })
  })
  return async () => {
    await Promise.all(
      children.map(
        (child) =>
          new Promise<void>((resolve) => {
            if (child.exitCode !== null || child.signalCode !== null) return resolve()
            child.once('exit', () => resolve())
            child.kill('SIGTERM')
          }),
      ),
    )
  }
}
