int a = sizeof;
