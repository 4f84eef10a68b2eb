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

// amount is a line of /proc/meminfo that is not the same in the instance: its name, the padded number, and the unit.
var amount = regexp.MustCompile(`(?m)^(MemTotal|MemFree|MemAvailable|SwapCached|SwapTotal|SwapFree):( *\d+) kB$`)

// meminfo returns the host's /proc/meminfo with the memory of the instance. No more than that is free, and there is no swap, with which the
// kubelet does not start.
//
// What is free is so only at the time of writing. The kubelet takes the size from here and the usage from cgroups.
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
				free = total // more than fits into 64 bits
			}
			value = min(free, total)
		}
		return fmt.Sprintf("%s:%*d kB", name, len(number), value)
	})
}

// Lines of /proc/cpuinfo that tell where a processor is.
var (
	processorLine = regexp.MustCompile(`(?m)^processor[ \t]*:`)
	ownNumber     = regexp.MustCompile(`(?m)^((?:processor|core id|apicid|initial apicid)[ \t]*: *)\d+$`)
	packageNumber = regexp.MustCompile(`(?m)^(physical id[ \t]*: *)\d+$`)
	packageSize   = regexp.MustCompile(`(?m)^((?:siblings|cpu cores)[ \t]*: *)\d+$`)
)

// cpuinfo returns the host's /proc/cpuinfo with the numbered processors, all cores of one package, as sysfs shows them. They are the
// host's first; if the host has fewer, they are repeated. Everything else stays, since the kubelet does not start on amd64 without the
// clock speed.
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
		return host // of an architecture that does not number them
	}
	blocks := make([]string, 0, len(numbers)+len(rest))
	for i, number := range numbers {
		block := ownNumber.ReplaceAllString(processors[i%len(processors)], "${1}"+strconv.Itoa(number))
		block = packageNumber.ReplaceAllString(block, "${1}0")
		blocks = append(blocks, packageSize.ReplaceAllString(block, "${1}"+strconv.Itoa(len(numbers))))
	}
	return strings.Join(append(blocks, rest...), "\n\n") + "\n\n"
}

// swaps is /proc/swaps of a machine without swap.
const swaps = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

// number chooses the numbers of as many processors as the instance has: first those that it may run on, in the order of their numbers, and
// then any that are not taken. The latter are shown as switched off: the kubelet counts them, and does not put pods on them, which the
// kernel would refuse.
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

// cpuList writes sorted numbers of processors as the kernel does, for example 0-2,5.
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

// settings below /proc/sys that the kubelet demands, or else sets. They are the host's, so the instance must not set them and is shown that
// they have these values already.
var settings = map[string]string{
	"vm/overcommit_memory":      "1\n",
	"vm/panic_on_oom":           "0\n",
	"kernel/panic":              "10\n",
	"kernel/panic_on_oops":      "1\n",
	"kernel/keys/root_maxkeys":  "1000000\n",
	"kernel/keys/root_maxbytes": "25000000\n",
}
