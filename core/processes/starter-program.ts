/**
 * The program of the starter: a small process that starts programs for the daemon, because a fork copies the page
 * tables of whoever forks. It is text instead of a file: the folder of the daemon may have been replaced since it
 * started. For each output, and for an input, it connects to the daemon, ahead of need, and the program has that
 * connection as it is; so what a program puts out passes nobody. A connection counts when the daemon has answered it.
 * When the daemon is gone, whatever it started goes too: groups, and what left them with the marker of this life.
 */
import { markerName } from '../state/root/process-table.js'

export const starterProgram = `'use strict'
process.title = 'holdfast-starter'
const { spawn } = require('node:child_process')
const { readdirSync, readFileSync, rmSync } = require('node:fs')
const { connect } = require('node:net')
const { dirname } = require('node:path')
const address = process.env.STARTER_ADDRESS
const token = process.env.STARTER_TOKEN
const daemon = process.ppid
const spareMost = 4
const needed = ({ input }) => (input ? 3 : 2)
const spare = []
const orders = []
const pids = new Set()
let opening = 0
let last = 0
let latest = 0
let mark = ''

const reach = (slot) => {
  const socket = connect(address)
  socket.on('error', () => {})
  socket.write(token + String(slot).padStart(16))
  return socket
}
const say = (fact) => control.write(JSON.stringify(fact) + '\\n')

const fill = () => {
  while (spare.length + opening < Math.max(spareMost, 3 * orders.length)) open((last += 1))
}
const open = (slot) => {
  opening += 1
  const socket = reach(slot)
  const asked = latest
  let settled = false
  const settle = (good) => {
    if (settled) return
    settled = true
    opening -= 1
    if (good) spare.push({ slot, socket })
    else if (orders.length > 0 && orders[0].id <= asked) say({ id: orders.shift().id, error: 'EMFILE' })
    pump()
  }
  socket.once('data', () => settle(true))
  socket.once('close', () => settle(false))
}
const pump = () => {
  while (orders.length > 0 && spare.length >= needed(orders[0])) {
    const order = orders.shift()
    run(order, spare.splice(0, needed(order)))
  }
  if (orders.length > 0) fill()
}

const startedAt = (pid) => {
  try {
    const stat = readFileSync('/proc/' + pid + '/stat', 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return ''
  }
}
const begin = ({ file, args, folder, environment }, [out, err, input]) => {
  const stdio = [input ? input.socket : 'ignore', out.socket, err.socket, 3]
  return spawn(file, args, { cwd: folder, env: environment, detached: true, stdio })
}
const run = (order, slots) => {
  const { id } = order
  mark = markOf(order) ?? mark
  try {
    const child = begin(order, slots)
    const { pid } = child
    child.on('error', (error) => pid === undefined && say({ id, error: error.code }))
    if (pid === undefined) return
    pids.add(pid)
    child.once('exit', (code, signal) => {
      pids.delete(pid)
      say({ id, code, signal })
    })
    say({ id, pid, started: startedAt(pid), slots: slots.map(({ slot }) => slot) })
  } catch (error) {
    say({ id, error: error.code })
  } finally {
    for (const { socket } of slots) socket.destroy()
    setImmediate(fill)
  }
}

// Root and generation, which all programs of one life have.
const markOf = ({ environment }) => /^[^.]+\\.[^.]+\\./.exec(environment['${markerName}'] ?? '')?.[0]
const isMarked = (pid) => {
  try {
    return ('\\0' + readFileSync('/proc/' + pid + '/environ', 'latin1')).includes('\\0${markerName}=' + mark)
  } catch {
    return false
  }
}
const marked = () => {
  try {
    return mark === '' ? [] : readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name) && isMarked(name))
  } catch {
    return []
  }
}
// Its connections end a moment before it does. While it lives, what others have started for it is not to be ended here.
const isAlone = () => {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let looks = 0; process.ppid === daemon && looks < 100; looks += 1) Atomics.wait(pause, 0, 0, 10)
  return process.ppid !== daemon
}
const killMarked = () => {
  // Those that one of them has just started are seen by the next look.
  for (let looks = 0, left = marked(); left.length > 0 && looks < 100; looks += 1, left = marked())
    for (const pid of left) kill(Number(pid))
}
const kill = (pid) => { try { process.kill(pid, 'SIGKILL') } catch {} }

let carry = ''
const hear = (text) => {
  const lines = (carry + text).split('\\n')
  carry = lines.pop()
  for (const line of lines) {
    orders.push(JSON.parse(line))
    latest = orders.at(-1).id
  }
  fill()
  pump()
}
const end = () => {
  for (const pid of pids) kill(-pid)
  if (isAlone()) killMarked()
  try { rmSync(dirname(address), { recursive: true, force: true }) } catch {}
  process.exit()
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
const control = reach(0).setEncoding('utf8').on('data', hear).on('close', end)
fill()
`
