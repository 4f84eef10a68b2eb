// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// bytesPerKB is the unit of /proc/meminfo, which calls it kB.
const bytesPerKB = 1024

// amount matches a line of /proc/meminfo that differs in the instance: its name, the padded number,
// and the unit.
var amount = regexp.MustCompile(`(?m)^(MemTotal|MemFree|MemAvailable|SwapCached|SwapTotal|SwapFree):( *\d+) kB$`)

// meminfo returns the host's /proc/meminfo with the instance's memory size. Free memory is capped
// at that size, and there is no swap, because the kubelet does not start with swap.
//
// The free memory is only valid at the time of writing. The kubelet takes the size from here and
// the usage from cgroups.
func meminfo(host string, memoryBytes int64) string {
	total := memoryBytes / bytesPerKB
	return amount.ReplaceAllStringFunc(host, func(line string) string {
		parts := amount.FindStringSubmatch(line)
		name, number := parts[1], parts[2]
		value := int64(0)
		switch {
		case name == "MemTotal":
			value = total
		case strings.HasPrefix(name, "Mem"):
			free, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			if err != nil {
				free = total // more than fits in 64 bits
			}
			value = min(free, total)
		}
		return fmt.Sprintf("%s:%*d kB", name, len(number), value)
	})
}

// Lines of /proc/cpuinfo that describe where a processor is.
var (
	processorLine = regexp.MustCompile(`(?m)^processor[ \t]*:`)
	ownNumber     = regexp.MustCompile(`(?m)^((?:processor|core id|apicid|initial apicid)[ \t]*: *)\d+$`)
	packageNumber = regexp.MustCompile(`(?m)^(physical id[ \t]*: *)\d+$`)
	packageSize   = regexp.MustCompile(`(?m)^((?:siblings|cpu cores)[ \t]*: *)\d+$`)
)

// cpuinfo returns the host's /proc/cpuinfo with the given processor numbers, all as cores of one
// package, as in sysfs. The entries are those of the host's first processors, repeated if the host
// has fewer. Everything else stays, because on amd64 the kubelet does not start without the clock
// speed.
func cpuinfo(host string, numbers []int) string {
	var processors, rest []string
	for block := range strings.SplitSeq(strings.TrimRight(host, "\n"), "\n\n") {
		if processorLine.MatchString(block) {
			processors = append(processors, block)
		} else {
			rest = append(rest, block)
		}
	}
	if len(processors) == 0 {
		return host // this architecture does not number them
	}
	blocks := make([]string, 0, len(numbers)+len(rest))
	for i, number := range numbers {
		block := ownNumber.ReplaceAllString(processors[i%len(processors)], "${1}"+strconv.Itoa(number))
		block = packageNumber.ReplaceAllString(block, "${1}0")
		blocks = append(blocks, packageSize.ReplaceAllString(block, "${1}"+strconv.Itoa(len(numbers))))
	}
	return strings.Join(append(blocks, rest...), "\n\n") + "\n\n"
}

// swaps is the /proc/swaps of a machine without swap.
const swaps = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

// number chooses the processor numbers of an instance: first those that it may run on, in ascending
// order, and then any unused ones. The latter are shown as offline: the kubelet counts them, but
// does not assign pods to them, which the kernel would refuse.
func number(allowed []int, cpus int) (all, online []int) {
	online = allowed[:min(cpus, len(allowed))]
	all = slices.Clone(online)
	for next := 0; len(all) < cpus; next++ {
		if !slices.Contains(all, next) {
			all = append(all, next)
		}
	}
	slices.Sort(all)
	return all, online
}

// cpuList formats sorted processor numbers as the kernel does, for example 0-2,5.
func cpuList(numbers []int) string {
	var ranges []string
	for len(numbers) > 0 {
		last := 0
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		text := strconv.Itoa(numbers[0])
		if last > 0 {
			text += "-" + strconv.Itoa(numbers[last])
		}
		ranges = append(ranges, text)
		numbers = numbers[last+1:]
	}
	return strings.Join(ranges, ",") + "\n"
}

// settings are the settings below /proc/sys that the kubelet requires or else sets. They belong to
// the host, so the instance must not change them; it sees them as if they already had these values.
var settings = map[string]string{
	"vm/overcommit_memory":      "1\n",
	"vm/panic_on_oom":           "0\n",
	"kernel/panic":              "10\n",
	"kernel/panic_on_oops":      "1\n",
	"kernel/keys/root_maxkeys":  "1000000\n",
	"kernel/keys/root_maxbytes": "25000000\n",
}
