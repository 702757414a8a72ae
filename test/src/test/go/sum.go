// Calls a function as often as the first argument says, and prints the sum of its results.
package main

import (
	"fmt"
	"os"
	"strconv"
)

//go:noinline
func price(item int64, discount int32, shop string, count uint8) int64 {
	return item + int64(discount) + int64(len(shop)) + int64(count)
}

func main() {
	calls, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var sum int64
	for i := 0; i < calls; i++ {
		sum += price(int64(i), -int32(i), "market", uint8(i%100))
	}
	fmt.Println(sum)
}
