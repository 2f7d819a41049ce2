import type { Command } from '../../../core/plugin.js'

export const runCommands: readonly Command[] = []
