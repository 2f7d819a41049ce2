// Where tests make their folders: in memory, where the machine has gigabytes for it. What has been written is there
// after a kill, on a disk or in memory; what a loss of power leaves is proven with disks that the tests make up.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const inMemory = '/dev/shm'
const leastBytes = 6 * 1024 ** 3

const hasRoom = ({ bsize, bavail }) => bsize * bavail >= leastBytes

/** Tests write programs and start them. */
const startsPrograms = (folder) => {
  const own = mkdtempSync(join(folder, 'holdfast-'))
  try {
    const program = join(own, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
    return spawnSync(program).status === 0
  } finally {
    rmSync(own, { recursive: true })
  }
}

const isUsable = (folder) => {
  try {
    return hasRoom(statfsSync(folder)) && startsPrograms(folder)
  } catch {
    return false
  }
}

export const environmentVariables = process.env.TMPDIR === undefined && isUsable(inMemory) ? { TMPDIR: inMemory } : {}
